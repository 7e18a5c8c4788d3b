-- The first schema. Moments are milliseconds since 1970. payments.document is the payment itself as JSON; the columns
-- beside it are what is searched, counted and claimed by.
--
-- Every table of the hot path begins with the payment's id: distributed by it, what a payment needs in one transaction
-- lies on one shard. There are no foreign keys between them: only the store writes, in one transaction, and verify
-- finds a trail whose payment is gone.

CREATE TABLE payments (
    id text COLLATE "C" PRIMARY KEY,
    caller text NOT NULL,
    key text NOT NULL,
    state text NOT NULL,
    latch text NOT NULL,
    reference text,
    amount bigint NOT NULL CHECK (amount >= 0),
    currency text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    version bigint NOT NULL,
    due_at bigint,
    due_provider text COLLATE "C" NOT NULL,
    lease_holder text,
    lease_token bigint NOT NULL,
    lease_until bigint,
    audit_seq bigint NOT NULL,
    audit_hash text NOT NULL,
    document text NOT NULL,
    CHECK ((lease_holder IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX payments_newest ON payments (created_at, id);
CREATE INDEX payments_of_caller ON payments (caller, created_at, id);
CREATE INDEX payments_by_reference ON payments (reference, created_at, id) WHERE reference IS NOT NULL;
CREATE INDEX payments_by_state ON payments (state, created_at, id) WHERE state <> 'succeeded';
CREATE INDEX payments_due ON payments (due_provider, due_at, id) WHERE due_at IS NOT NULL AND lease_until IS NULL;
CREATE INDEX payments_leased ON payments (lease_until, due_at) WHERE lease_until IS NOT NULL;

CREATE TABLE legs (
    payment_id text COLLATE "C" NOT NULL,
    leg bigint NOT NULL,
    provider text NOT NULL,
    first_at_provider boolean NOT NULL,
    amount bigint NOT NULL,
    captured bigint NOT NULL,
    status text,
    standing text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (payment_id, leg)
);
CREATE INDEX legs_at_provider ON legs (provider, created_at, payment_id) WHERE first_at_provider;

CREATE TABLE effects (
    payment_id text COLLATE "C" NOT NULL,
    provider text NOT NULL,
    key text NOT NULL,
    leg bigint NOT NULL,
    kind text NOT NULL,
    amount bigint NOT NULL,
    generation bigint NOT NULL,
    attempts bigint NOT NULL,
    worst bigint NOT NULL,
    status text NOT NULL,
    PRIMARY KEY (payment_id, provider, key)
);
CREATE INDEX effects_at_provider ON effects (provider, key);

-- In partitions by month, so that what is old enough goes away without being read. That a payment's entry is written
-- once is seen to by its version, which every commit names.
CREATE SEQUENCE event_numbers AS bigint;
CREATE TABLE events (
    payment_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    id bigint NOT NULL DEFAULT nextval('event_numbers'),
    at bigint NOT NULL,
    type text NOT NULL,
    leg bigint,
    fields text NOT NULL,
    prev text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (payment_id, seq, at)
) PARTITION BY RANGE (at);
CREATE INDEX events_by_id ON events (id);
-- For what is of no month that was prepared: nothing is ever refused for want of a partition.
CREATE TABLE events_other PARTITION OF events DEFAULT;

-- Prepares the partition of the month so many months after the one in which a moment lies; false if it is there, or if
-- what is to be in it is in events_other already and stays there.
CREATE FUNCTION prepare_events(moment bigint, ahead bigint) RETURNS boolean LANGUAGE plpgsql AS $body$
DECLARE
    month timestamptz := date_trunc('month', to_timestamp(moment / 1000.0), 'UTC') + ahead * interval '1 month';
    first bigint := extract(epoch FROM month) * 1000;
    beyond bigint := extract(epoch FROM month + interval '1 month') * 1000;
    name text := 'events_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM');
BEGIN
    PERFORM pg_advisory_xact_lock('events'::regclass::oid::bigint);
    IF to_regclass(quote_ident(name)) IS NOT NULL
        OR EXISTS (SELECT 1 FROM events_other WHERE at >= first AND at < beyond)
    THEN
        RETURN false;
    END IF;
    -- Attached, not made in place: that keeps nobody from writing meanwhile.
    EXECUTE format('CREATE TABLE %I (LIKE events INCLUDING DEFAULTS)', name);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', name, first, beyond);
    RETURN true;
END
$body$;

-- Removes the partitions of months that ended before a moment and in which no payment that is left can have an event;
-- says how many. Events of months that were not prepared stay.
CREATE FUNCTION drop_events(moment bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    oldest bigint := coalesce((SELECT min(created_at) FROM payments), moment);
    partition record;
    dropped bigint := 0;
BEGIN
    PERFORM pg_advisory_xact_lock('events'::regclass::oid::bigint);
    FOR partition IN
        SELECT child.oid::regclass AS name, (extract(epoch FROM (
            to_date(substring(child.relname FROM '^events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM')::timestamp
                + interval '1 month') AT TIME ZONE 'UTC') * 1000)::bigint AS beyond
        FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
        WHERE inhparent = 'events'::regclass AND child.relname ~ '^events_[0-9]{4}_[0-9]{2}$'
    LOOP
        CONTINUE WHEN partition.beyond > least(moment, oldest);
        EXECUTE format('ALTER TABLE events DETACH PARTITION %s', partition.name);
        EXECUTE format('DROP TABLE %s', partition.name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END
$body$;

-- place is derived from caller and key, as a payment's id is: for the key of a create it is the payment's own.
CREATE TABLE idempotency_keys (
    place text COLLATE "C" PRIMARY KEY,
    caller text NOT NULL,
    key text NOT NULL,
    operation text NOT NULL,
    payment_id text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    created_at bigint NOT NULL,
    pruned boolean NOT NULL,
    answer_status bigint,
    answer_type text,
    answer_location text,
    answer_body bytea,
    CHECK (NOT pruned OR answer_status IS NULL)
);
-- A create's key lies at the payment's own place, and needs no other way to it.
CREATE INDEX keys_of_operations ON idempotency_keys (payment_id) WHERE place <> payment_id;

CREATE TABLE seals (
    number bigint PRIMARY KEY,
    at bigint NOT NULL,
    heads bigint NOT NULL,
    through_event bigint NOT NULL,
    prev text NOT NULL,
    hash text NOT NULL
);
CREATE TABLE seal_heads (
    seal bigint NOT NULL,
    payment_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (seal, payment_id)
);

-- What is written to see whether commits are confirmed.
CREATE TABLE probe (
    place bigint PRIMARY KEY,
    at bigint NOT NULL
);

-- Counted by triggers, because counting millions of rows is not cheap. Each session has a place of its own, so that no
-- two commits wait for one row.
CREATE TABLE state_counts (
    state text NOT NULL,
    place bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (state, place)
);

CREATE FUNCTION count_states() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO state_counts AS known (state, place, count)
            SELECT state, current_setting('reconciled.place')::bigint, count(*) FROM added GROUP BY state ORDER BY state
            ON CONFLICT (state, place) DO UPDATE SET count = known.count + excluded.count;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO state_counts AS known (state, place, count)
            SELECT state, current_setting('reconciled.place')::bigint, -count(*) FROM removed
            GROUP BY state ORDER BY state
            ON CONFLICT (state, place) DO UPDATE SET count = known.count + excluded.count;
    ELSE
        INSERT INTO state_counts AS known (state, place, count)
            SELECT state, current_setting('reconciled.place')::bigint, sum(change) FROM (
                SELECT state, 1 AS change FROM added UNION ALL SELECT state, -1 FROM removed
            ) AS changes GROUP BY state HAVING sum(change) <> 0 ORDER BY state
            ON CONFLICT (state, place) DO UPDATE SET count = known.count + excluded.count;
    END IF;
    RETURN NULL;
END
$body$;
CREATE TRIGGER payments_counted AFTER INSERT ON payments
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_states();
CREATE TRIGGER payments_uncounted AFTER DELETE ON payments
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_states();
CREATE TRIGGER payments_recounted AFTER UPDATE ON payments
    REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_states();

-- What is there stays, but for the pruning of what ended long ago, which says so.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'payments' AND current_setting('reconciled.prunes', true) = 'yes' THEN
        RETURN old;
    END IF;
    RAISE EXCEPTION '% is only ever added to', TG_TABLE_NAME;
END
$body$;
CREATE TRIGGER payments_stay BEFORE DELETE ON payments FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seals_stay BEFORE UPDATE OR DELETE ON seals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seal_heads_stay BEFORE UPDATE OR DELETE ON seal_heads FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A key that was used stays used: its request never changes, and its answer is set once and can only be pruned.
CREATE FUNCTION keep_key() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF (new.place, new.caller, new.key, new.operation, new.payment_id, new.fingerprint, new.created_at)
        IS DISTINCT FROM
            (old.place, old.caller, old.key, old.operation, old.payment_id, old.fingerprint, old.created_at)
        OR (old.pruned AND NOT new.pruned)
        OR (old.answer_status IS NOT NULL AND NOT new.pruned
            AND (new.answer_status, new.answer_type, new.answer_location, new.answer_body)
            IS DISTINCT FROM (old.answer_status, old.answer_type, old.answer_location, old.answer_body))
    THEN
        RAISE EXCEPTION 'an idempotency key is never changed';
    END IF;
    RETURN new;
END
$body$;
CREATE TRIGGER keys_stay BEFORE DELETE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER keys_keep BEFORE UPDATE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION keep_key();

-- A group of changes is made whole or not at all: it ends with an error where fewer rows were touched than it has.
CREATE FUNCTION require_rows(written bigint, expected bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
    IF written <> expected THEN
        RAISE EXCEPTION 'a member of the group cannot be written' USING ERRCODE = 'RC001';
    END IF;
    RETURN written;
END
$body$;
