extension Schema {
    /// The third schema: what a key shows beside its first transaction, and the identity of the store, made once.
    static let version3 = """
        ALTER TABLE compared_positions ADD COLUMN theirs_created_at INTEGER;
        ALTER TABLE compared_positions ADD COLUMN theirs_store TEXT;
        ALTER TABLE compared_positions ADD COLUMN theirs_others TEXT;
        CREATE INDEX compared_listed ON compared_positions (provider, listed_at, key)
            WHERE finding = 'matched' AND NOT is_named;
        CREATE TABLE store_identity (
            sole INTEGER PRIMARY KEY CHECK (sole = 1),
            identity TEXT NOT NULL
        ) STRICT;
        INSERT INTO store_identity (sole, identity) VALUES (1, 'sto_' || lower(hex(randomblob(16))));
        CREATE TRIGGER store_identity_stays BEFORE UPDATE ON store_identity
        BEGIN SELECT raise(ABORT, 'the identity of a store never changes'); END;
        CREATE TRIGGER store_identity_is_kept BEFORE DELETE ON store_identity
        BEGIN SELECT raise(ABORT, 'the identity of a store never changes'); END;
        """
}
