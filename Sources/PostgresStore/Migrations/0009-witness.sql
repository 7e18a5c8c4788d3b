-- The witness that the site's row knows, as a document; NULL until one was founded. Another, or one that lost what it
-- knew, proves nothing.
ALTER TABLE site_state ADD COLUMN witness text;
