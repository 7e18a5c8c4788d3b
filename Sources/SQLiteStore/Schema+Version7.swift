extension Schema {
    /// The seventh schema: repairs, which one person proposes and another one decides. What was decided stays.
    static let version7 = """
        CREATE TABLE repairs (
            id TEXT NOT NULL PRIMARY KEY,
            payment_id TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('proposed', 'approved', 'rejected')),
            proposed_by TEXT NOT NULL,
            decided_by TEXT,
            proposed_at INTEGER NOT NULL,
            document TEXT NOT NULL,
            CONSTRAINT decided_by_somebody CHECK ((state = 'proposed') = (decided_by IS NULL)),
            CONSTRAINT approved_by_another CHECK (state <> 'approved' OR decided_by <> proposed_by)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX repairs_proposed ON repairs (proposed_at, id);
        CREATE INDEX repairs_waiting ON repairs (proposed_at, id) WHERE state = 'proposed';
        CREATE INDEX repairs_of_payment ON repairs (payment_id, proposed_at, id);
        CREATE TRIGGER repairs_are_not_deleted BEFORE DELETE ON repairs BEGIN
            SELECT RAISE(ABORT, 'repairs are not deleted');
        END;
        CREATE TRIGGER repairs_are_decided_once BEFORE UPDATE ON repairs
        WHEN old.state <> 'proposed' OR new.id <> old.id OR new.payment_id <> old.payment_id
            OR new.proposed_by <> old.proposed_by OR new.proposed_at <> old.proposed_at
        BEGIN
            SELECT RAISE(ABORT, 'a repair is decided once');
        END;
        """
}
