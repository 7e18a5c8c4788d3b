extension Schema {
    /// The second schema: comparisons.
    ///
    /// `payments.booked_version` is the version of the payment from which the new columns of its legs were derived; see
    /// `BookedColumns`.
    static let version2 = books + comparedPositions + comparisonRuns + discrepancies

    private static let books = """
        ALTER TABLE payments ADD COLUMN booked_version INTEGER;
        CREATE INDEX payments_changed ON payments (updated_at, id);
        ALTER TABLE legs ADD COLUMN key TEXT;
        ALTER TABLE legs ADD COLUMN currency TEXT;
        ALTER TABLE legs ADD COLUMN refunds TEXT;
        ALTER TABLE legs ADD COLUMN stands TEXT;
        ALTER TABLE legs ADD COLUMN work TEXT;

        """

    private static let comparedPositions = """
        CREATE TABLE compared_positions (
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            unsettled INTEGER NOT NULL,
            ours_net INTEGER,
            theirs_net INTEGER,
            finding TEXT NOT NULL,
            found_by TEXT NOT NULL,
            is_named INTEGER NOT NULL,
            listed_at INTEGER,
            compared_at INTEGER NOT NULL,
            run TEXT NOT NULL,
            theirs_status TEXT,
            theirs_payment TEXT,
            theirs_leg INTEGER,
            theirs_amount INTEGER,
            theirs_currency TEXT,
            theirs_captured INTEGER,
            theirs_refunds TEXT,
            theirs_updated_at INTEGER,
            theirs_contradiction TEXT,
            ours_payment TEXT,
            ours_leg INTEGER,
            ours_amount INTEGER,
            ours_currency TEXT,
            ours_captured INTEGER,
            ours_refunds TEXT,
            ours_stands TEXT,
            ours_work TEXT,
            ours_state TEXT,
            ours_updated_at INTEGER,
            PRIMARY KEY (provider, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX compared_unsettled ON compared_positions (provider, key) WHERE unsettled;
        CREATE INDEX compared_in_flight ON compared_positions (provider)
            WHERE finding = 'in_flight' AND NOT is_named;
        CREATE INDEX compared_settled ON compared_positions (compared_at) WHERE NOT unsettled;
        CREATE TABLE comparison_standings (
            provider TEXT NOT NULL,
            currency TEXT NOT NULL,
            ours INTEGER NOT NULL,
            theirs INTEGER NOT NULL,
            PRIMARY KEY (provider, currency)
        ) STRICT, WITHOUT ROWID;

        """

    private static let comparisonRuns = """
        CREATE TABLE comparison_runs (
            id TEXT PRIMARY KEY NOT NULL,
            provider TEXT NOT NULL,
            lane TEXT NOT NULL,
            kind TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            is_dry INTEGER NOT NULL,
            state TEXT NOT NULL,
            window_to INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            finished_at INTEGER,
            version INTEGER NOT NULL,
            document TEXT NOT NULL
        ) STRICT;
        CREATE INDEX comparison_runs_newest ON comparison_runs (created_at, id);
        CREATE INDEX comparison_runs_chain ON comparison_runs (provider, window_to, attempt)
            WHERE kind = 'scheduled' AND NOT is_dry;
        CREATE INDEX comparison_runs_finished ON comparison_runs (finished_at) WHERE finished_at IS NOT NULL;
        CREATE TABLE comparison_lanes (
            lane TEXT PRIMARY KEY NOT NULL,
            run TEXT NOT NULL,
            token INTEGER NOT NULL,
            holder TEXT,
            until INTEGER,
            CHECK ((holder IS NULL) = (until IS NULL))
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE comparison_findings (
            run TEXT NOT NULL,
            discrepancy TEXT NOT NULL,
            document TEXT NOT NULL,
            PRIMARY KEY (run, discrepancy)
        ) STRICT, WITHOUT ROWID;

        """

    private static let discrepancies = """
        CREATE TABLE discrepancies (
            id TEXT PRIMARY KEY NOT NULL,
            provider TEXT NOT NULL,
            key TEXT,
            finding TEXT NOT NULL,
            state TEXT NOT NULL,
            payment TEXT,
            assignee TEXT,
            opened_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            closed_at INTEGER,
            at_risk INTEGER,
            risk_currency TEXT,
            ours_net INTEGER,
            ours_currency TEXT,
            theirs_net INTEGER,
            theirs_currency TEXT,
            explains_money INTEGER NOT NULL,
            version INTEGER NOT NULL,
            document TEXT NOT NULL
        ) STRICT;
        CREATE INDEX discrepancies_oldest ON discrepancies (opened_at, id);
        CREATE INDEX discrepancies_open ON discrepancies (opened_at, id) WHERE state <> 'closed';
        CREATE INDEX discrepancies_of_payment ON discrepancies (payment, opened_at, id) WHERE payment IS NOT NULL;
        CREATE INDEX discrepancies_explaining ON discrepancies (provider) WHERE explains_money;
        CREATE INDEX discrepancies_closed ON discrepancies (closed_at) WHERE state = 'closed';
        """
}
