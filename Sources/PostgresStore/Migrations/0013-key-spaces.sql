-- In which key spaces the active site sends to its providers, as a document: a site that takes over after lost rows has to
-- send in the same.
ALTER TABLE site_state ADD COLUMN key_spaces text;
