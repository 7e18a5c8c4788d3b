-- Comparisons of both sides: what is remembered of each transaction, runs and who works at them, discrepancies, and what
-- stands at each provider.
--
-- On a cluster that distributes payments by their ids, compared_positions is distributed by its key, and the small tables
-- are not distributed. Nothing of a payment's own commit touches them. A page of a listing is then looked up by arrays
-- of keys: compared_positions on the shards of the keys, effects_at_provider on every shard (a key does not tell where its
-- payment lies), and legs and payments by the payments' ids. On one server that is one statement.

-- Nobody waits for long: if somebody holds one of the tables at the end, this fails and can be run again.
SET LOCAL lock_timeout = '5s';

CREATE TABLE compared_positions (
    provider text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    unsettled boolean NOT NULL,
    ours_net bigint,
    theirs_net bigint,
    finding text NOT NULL,
    found_by text NOT NULL,
    is_named boolean NOT NULL,
    listed_at bigint,
    compared_at bigint NOT NULL,
    run text COLLATE "C" NOT NULL,
    theirs_status text,
    theirs_payment text COLLATE "C",
    theirs_leg bigint,
    theirs_amount bigint,
    theirs_currency text,
    theirs_captured bigint,
    theirs_refunds text,
    theirs_updated_at bigint,
    theirs_contradiction text,
    ours_payment text COLLATE "C",
    ours_leg bigint,
    ours_amount bigint,
    ours_currency text,
    ours_captured bigint,
    ours_refunds text,
    ours_stands text,
    ours_work text,
    ours_state text,
    ours_updated_at bigint,
    PRIMARY KEY (provider, key)
);
CREATE INDEX compared_unsettled ON compared_positions (provider, key) WHERE unsettled;
CREATE INDEX compared_in_flight ON compared_positions (provider) WHERE finding = 'in_flight' AND NOT is_named;
CREATE INDEX compared_settled ON compared_positions (compared_at) WHERE NOT unsettled;

CREATE TABLE comparison_runs (
    id text COLLATE "C" PRIMARY KEY,
    provider text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    attempt bigint NOT NULL,
    is_dry boolean NOT NULL,
    state text NOT NULL,
    window_to bigint NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint,
    version bigint NOT NULL,
    document text NOT NULL
);
CREATE INDEX comparison_runs_newest ON comparison_runs (created_at, id);
CREATE INDEX comparison_runs_chain ON comparison_runs (provider, window_to, attempt)
    WHERE kind = 'scheduled' AND NOT is_dry;
CREATE INDEX comparison_runs_finished ON comparison_runs (finished_at) WHERE finished_at IS NOT NULL;

-- To which run a lane belongs, and the lease on it. A lane's row is there before its first run.
CREATE TABLE comparison_lanes (
    lane text COLLATE "C" PRIMARY KEY,
    run text COLLATE "C",
    token bigint NOT NULL,
    holder text,
    until bigint,
    CHECK ((holder IS NULL) = (until IS NULL))
);

CREATE TABLE comparison_findings (
    run text COLLATE "C" NOT NULL,
    discrepancy text COLLATE "C" NOT NULL,
    document text NOT NULL,
    PRIMARY KEY (run, discrepancy)
);

CREATE TABLE comparison_standings (
    provider text COLLATE "C" NOT NULL,
    currency text NOT NULL,
    ours bigint NOT NULL,
    theirs bigint NOT NULL,
    PRIMARY KEY (provider, currency)
);

CREATE TABLE discrepancies (
    id text COLLATE "C" PRIMARY KEY,
    provider text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    finding text NOT NULL,
    state text NOT NULL,
    payment text COLLATE "C",
    assignee text,
    opened_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    closed_at bigint,
    at_risk bigint,
    risk_currency text,
    ours_net bigint,
    ours_currency text,
    theirs_net bigint,
    theirs_currency text,
    explains_money boolean NOT NULL,
    version bigint NOT NULL,
    document text NOT NULL
);
CREATE INDEX discrepancies_oldest ON discrepancies (opened_at, id);
CREATE INDEX discrepancies_open ON discrepancies (opened_at, id) WHERE state <> 'closed';
CREATE INDEX discrepancies_of_payment ON discrepancies (payment, opened_at, id) WHERE payment IS NOT NULL;
CREATE INDEX discrepancies_explaining ON discrepancies (provider) WHERE explains_money;
CREATE INDEX discrepancies_closed ON discrepancies (closed_at) WHERE state = 'closed';

-- What our books say of a leg (a leg's key, currency, refunds, where its money stands, who is at work on it), derived from
-- the payment at each commit. It is of the version that booked_version names: the version of the program before this
-- writes neither, and what it wrote is read from the document.
ALTER TABLE payments ADD COLUMN booked_version bigint;
ALTER TABLE legs ADD COLUMN key text, ADD COLUMN currency text, ADD COLUMN refunds text, ADD COLUMN stands text,
    ADD COLUMN work text;
