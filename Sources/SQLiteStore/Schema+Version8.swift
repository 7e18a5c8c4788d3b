extension Schema {
    /// The eighth schema: webhooks, which are raised with the change of their payment.
    static let version8 = """
        CREATE TABLE webhooks (
            payment_id TEXT NOT NULL PRIMARY KEY,
            caller TEXT NOT NULL,
            reported TEXT NOT NULL,
            raised INTEGER NOT NULL,
            raised_at INTEGER NOT NULL,
            delivered INTEGER NOT NULL DEFAULT 0,
            delivered_at INTEGER,
            due_at INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            failure TEXT,
            token INTEGER NOT NULL DEFAULT 0,
            lease_until INTEGER,
            CONSTRAINT delivered_was_raised CHECK (delivered <= raised),
            CONSTRAINT due_is_open CHECK (due_at IS NULL OR delivered < raised)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX webhooks_due ON webhooks (caller, due_at, payment_id) WHERE due_at IS NOT NULL;
        CREATE INDEX webhooks_open ON webhooks (caller, raised_at, payment_id) WHERE delivered < raised;
        CREATE INDEX webhooks_raised ON webhooks (raised_at, payment_id);
        CREATE INDEX webhooks_of_caller ON webhooks (caller, raised_at, payment_id);
        """
}
