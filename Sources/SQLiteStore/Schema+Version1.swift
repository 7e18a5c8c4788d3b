extension Schema {
    /// The first schema.
    ///
    /// Moments are milliseconds since 1970. `payments.document` is the payment itself as JSON; the columns beside
    /// it are what is searched, counted and claimed by. It stands last, so that a scan of the others does not read
    /// it.
    static let version1 = payments + parts + history + keys + upkeep

    private static let payments = """
        CREATE TABLE payments (
            id TEXT PRIMARY KEY NOT NULL,
            caller TEXT NOT NULL,
            key TEXT NOT NULL,
            state TEXT NOT NULL,
            latch TEXT NOT NULL,
            reference TEXT,
            amount INTEGER NOT NULL CHECK (amount >= 0),
            currency TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            version INTEGER NOT NULL,
            due_at INTEGER,
            due_provider TEXT NOT NULL,
            lease_holder TEXT,
            lease_token INTEGER NOT NULL,
            lease_until INTEGER,
            audit_seq INTEGER NOT NULL,
            audit_hash TEXT NOT NULL,
            document BLOB NOT NULL,
            CHECK ((lease_holder IS NULL) = (lease_until IS NULL))
        ) STRICT;
        CREATE INDEX payments_newest ON payments (created_at, id);
        CREATE INDEX payments_of_caller ON payments (caller, created_at, id);
        CREATE INDEX payments_by_reference ON payments (reference, created_at, id) WHERE reference IS NOT NULL;
        CREATE INDEX payments_by_state ON payments (state, created_at, id) WHERE state <> 'succeeded';
        CREATE INDEX payments_due ON payments (due_provider, due_at, id, lease_until)
            WHERE due_at IS NOT NULL AND lease_until IS NULL;
        CREATE INDEX payments_leased ON payments (lease_until, due_at, due_provider, id)
            WHERE lease_until IS NOT NULL;

        CREATE TABLE state_counts (
            state TEXT PRIMARY KEY NOT NULL,
            count INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER payments_counted AFTER INSERT ON payments BEGIN
            INSERT INTO state_counts (state, count) VALUES (new.state, 1)
                ON CONFLICT (state) DO UPDATE SET count = count + 1;
        END;
        CREATE TRIGGER payments_recounted AFTER UPDATE OF state ON payments WHEN old.state <> new.state BEGIN
            UPDATE state_counts SET count = count - 1 WHERE state = old.state;
            INSERT INTO state_counts (state, count) VALUES (new.state, 1)
                ON CONFLICT (state) DO UPDATE SET count = count + 1;
        END;
        CREATE TRIGGER payments_stay BEFORE DELETE ON payments BEGIN
            SELECT raise(ABORT, 'payments are never deleted');
        END;

        """

    /// `first_at_provider` marks one leg of a payment for each provider, so that a listing by provider names a payment
    /// once.
    private static let parts = """
        CREATE TABLE legs (
            payment_id TEXT NOT NULL REFERENCES payments (id),
            leg INTEGER NOT NULL,
            provider TEXT NOT NULL,
            first_at_provider INTEGER NOT NULL,
            amount INTEGER NOT NULL,
            captured INTEGER NOT NULL,
            status TEXT,
            standing TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (payment_id, leg)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX legs_at_provider ON legs (provider, created_at, payment_id) WHERE first_at_provider = 1;

        CREATE TABLE effects (
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            payment_id TEXT NOT NULL REFERENCES payments (id),
            leg INTEGER NOT NULL,
            kind TEXT NOT NULL,
            amount INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            worst INTEGER NOT NULL,
            status TEXT NOT NULL,
            PRIMARY KEY (provider, key)
        ) STRICT, WITHOUT ROWID;

        """

    /// The audit trails, and the seals over their heads: only ever added to.
    private static let history = """
        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            payment_id TEXT NOT NULL REFERENCES payments (id),
            seq INTEGER NOT NULL,
            at INTEGER NOT NULL,
            type TEXT NOT NULL,
            leg INTEGER,
            fields TEXT NOT NULL,
            prev TEXT NOT NULL,
            hash TEXT NOT NULL,
            UNIQUE (payment_id, seq)
        ) STRICT;
        CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN
            SELECT raise(ABORT, 'events are only ever added');
        END;
        CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN
            SELECT raise(ABORT, 'events are only ever added');
        END;

        CREATE TABLE seals (
            number INTEGER PRIMARY KEY NOT NULL,
            at INTEGER NOT NULL,
            heads INTEGER NOT NULL,
            through_event INTEGER NOT NULL,
            prev TEXT NOT NULL,
            hash TEXT NOT NULL
        ) STRICT;
        CREATE TABLE seal_heads (
            seal INTEGER NOT NULL REFERENCES seals (number),
            payment_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (seal, payment_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER seals_are_not_changed BEFORE UPDATE ON seals BEGIN
            SELECT raise(ABORT, 'seals are only ever added');
        END;
        CREATE TRIGGER seals_are_not_deleted BEFORE DELETE ON seals BEGIN
            SELECT raise(ABORT, 'seals are only ever added');
        END;
        CREATE TRIGGER seal_heads_are_not_changed BEFORE UPDATE ON seal_heads BEGIN
            SELECT raise(ABORT, 'seals are only ever added');
        END;
        CREATE TRIGGER seal_heads_are_not_deleted BEFORE DELETE ON seal_heads BEGIN
            SELECT raise(ABORT, 'seals are only ever added');
        END;

        """

    /// A key that was used stays used: its row is never deleted, its request never changes, and its answer is set once
    /// and can only be pruned after that.
    private static let keys = """
        CREATE TABLE idempotency_keys (
            caller TEXT NOT NULL,
            key TEXT NOT NULL,
            operation TEXT NOT NULL,
            payment_id TEXT NOT NULL REFERENCES payments (id),
            fingerprint TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            pruned INTEGER NOT NULL,
            answer_status INTEGER,
            answer_type TEXT,
            answer_location TEXT,
            answer_body BLOB,
            PRIMARY KEY (caller, key),
            CHECK (pruned = 0 OR answer_status IS NULL)
        ) STRICT;
        CREATE TRIGGER keys_are_not_deleted BEFORE DELETE ON idempotency_keys BEGIN
            SELECT raise(ABORT, 'an idempotency key is spent for ever');
        END;
        CREATE TRIGGER keys_are_not_changed BEFORE UPDATE ON idempotency_keys
        WHEN new.caller <> old.caller OR new.key <> old.key OR new.operation <> old.operation
            OR new.payment_id <> old.payment_id OR new.fingerprint <> old.fingerprint
            OR new.created_at <> old.created_at OR new.pruned < old.pruned
            OR (old.answer_status IS NOT NULL AND new.pruned = 0
                AND (new.answer_status IS NOT old.answer_status OR new.answer_type IS NOT old.answer_type
                    OR new.answer_location IS NOT old.answer_location OR new.answer_body IS NOT old.answer_body))
        BEGIN
            SELECT raise(ABORT, 'an idempotency key is never changed');
        END;

        """

    private static let upkeep = """
        CREATE TABLE probe (
            id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
            at INTEGER NOT NULL
        ) STRICT;
        """
}
