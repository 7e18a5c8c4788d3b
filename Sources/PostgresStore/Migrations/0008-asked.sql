-- When what a provider did for a leg was asked for first. Legs that were written before, or by the version of the program
-- before this one, are taken to have been asked for when their payment changed last.
SET LOCAL lock_timeout = '5s';
ALTER TABLE legs ADD COLUMN asked_at bigint;
ALTER TABLE compared_positions ADD COLUMN ours_asked_at bigint;
