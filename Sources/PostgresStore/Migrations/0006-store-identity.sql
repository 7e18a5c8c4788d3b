-- What a key shows beside its first transaction, when that was recorded, and the store that it names. The version of the
-- program before this one does not read these columns, and writes rows without them.
ALTER TABLE compared_positions
    ADD COLUMN theirs_created_at bigint,
    ADD COLUMN theirs_store text,
    ADD COLUMN theirs_others text;

-- What a listing showed in a window once, so that what it leaves out is noticed. Whoever writes comparisons waits while it is
-- made: in a large database make it beforehand with CREATE INDEX CONCURRENTLY, and this step finds it there.
CREATE INDEX IF NOT EXISTS compared_listed ON compared_positions (provider, listed_at, key)
    WHERE finding = 'matched' AND NOT is_named;

-- The identity of this store, made once: it is replicated with everything else, so that both sites have the same. It goes
-- to the providers with each transaction.
CREATE TABLE store_identity (
    sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
    identity text NOT NULL
);
INSERT INTO store_identity (identity) VALUES ('sto_' || replace(gen_random_uuid()::text, '-', ''));
CREATE TRIGGER store_identity_stays BEFORE UPDATE OR DELETE ON store_identity
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
