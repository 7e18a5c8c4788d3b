-- The reference's tables: those of Sources/PostgresStore/Migrations/0001-payments.sql that one payment needs, with the
-- same columns, keys and indexes, in a schema of its own.
--
-- Left out: the triggers and state_counts, which they keep; seals and probe, which a payment does not touch.
-- Added: functions that make texts of the size and shape that the daemon writes. The daemon sends these texts over the
-- wire; here the server makes them. They are declared so that
-- the planner puts them in line: STABLE where they use format, which is.

SET client_min_messages = warning;
DROP SCHEMA IF EXISTS reference CASCADE;
CREATE SCHEMA reference;

CREATE TABLE reference.payments (
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
CREATE INDEX payments_newest ON reference.payments (created_at, id);
CREATE INDEX payments_of_caller ON reference.payments (caller, created_at, id);
CREATE INDEX payments_by_reference ON reference.payments (reference, created_at, id) WHERE reference IS NOT NULL;
CREATE INDEX payments_by_state ON reference.payments (state, created_at, id) WHERE state <> 'succeeded';
CREATE INDEX payments_due ON reference.payments (due_provider, due_at, id)
    WHERE due_at IS NOT NULL AND lease_until IS NULL;
CREATE INDEX payments_leased ON reference.payments (lease_until, due_at) WHERE lease_until IS NOT NULL;

CREATE TABLE reference.legs (
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
CREATE INDEX legs_at_provider ON reference.legs (provider, created_at, payment_id) WHERE first_at_provider;

CREATE TABLE reference.effects (
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
CREATE INDEX effects_at_provider ON reference.effects (provider, key);

CREATE TABLE reference.events (
    payment_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    at bigint NOT NULL,
    type text NOT NULL,
    leg bigint,
    fields text NOT NULL,
    prev text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (payment_id, seq)
);
CREATE INDEX events_by_id ON reference.events (id);

CREATE TABLE reference.idempotency_keys (
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

-- Milliseconds since 1970.
CREATE FUNCTION reference.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $body$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$body$;

-- A text of hexadecimal digits that belongs to a payment's number and a purpose: 40 for keys, 64 for hashes.
CREATE FUNCTION reference.hex(purpose text, number bigint, size integer) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
    SELECT left(md5(purpose || number::text) || md5(number::text || purpose), size)
$body$;

-- A payment as JSON after the first, second and third commit: 1.1, 1.6 and 1.8 kB, member by member what
-- Sources/StoreRows/PaymentDocument.swift makes of such a payment.
CREATE FUNCTION reference.document_created(id text, key text, head text, authorize text, capture text, at bigint)
RETURNS text LANGUAGE sql STABLE AS $body$
    SELECT format(
        '{"amount":{"currency":"JPY","value":1200},"auditHead":{"hash":"%3$s","sequence":2},'
        || '"caller":"bench-shop","captureMode":"automatic","createdAt":%6$s,"deadline":%6$s,"dueAt":%6$s,'
        || '"dueProvider":"card","id":"%1$s","key":"%2$s","latch":"none","latchAcknowledged":true,'
        || '"legs":[{"amount":{"currency":"JPY","value":1200},"capturedAmount":{"currency":"JPY","value":0},'
        || '"conclusiveReads":0,"index":0,"inquiries":0,"instrument":"tok-1","isCompensated":false,'
        || '"isOnePhase":false,"primary":{"amount":{"currency":"JPY","value":1200},"attempts":1,'
        || '"credentialRefusals":0,"firstIntentAt":%6$s,"fruitless":0,"generation":0,'
        || '"hasUnboundedAttempt":false,"key":"%4$s","kind":"authorize","lastIntentAt":%6$s,'
        || '"latestNotAfter":%6$s,"open":{"at":%6$s,"number":1},"sentAfterDecline":0,"unsent":0,"worst":0},'
        || '"provider":"card"}],"metadata":{},"reference":"%2$s","refunds":[],"updatedAt":%6$s,"version":1}',
        id, key, head, authorize, capture, at)
$body$;

CREATE FUNCTION reference.document_authorized(id text, key text, head text, authorize text, capture text, at bigint)
RETURNS text LANGUAGE sql STABLE AS $body$
    SELECT format(
        '{"amount":{"currency":"JPY","value":1200},"auditHead":{"hash":"%3$s","sequence":5},'
        || '"caller":"bench-shop","captureMode":"automatic","createdAt":%6$s,"deadline":%6$s,"dueAt":%6$s,'
        || '"dueProvider":"card","id":"%1$s","key":"%2$s","latch":"forward","latchAcknowledged":true,'
        || '"legs":[{"amount":{"currency":"JPY","value":1200},"capture":{"amount":{"currency":"JPY",'
        || '"value":1200},"attempts":1,"credentialRefusals":0,"firstIntentAt":%6$s,"fruitless":0,"generation":0,'
        || '"hasUnboundedAttempt":true,"key":"%5$s","kind":"capture","lastIntentAt":%6$s,"open":{"at":%6$s,'
        || '"number":1},"sentAfterDecline":0,"unsent":0,"worst":0},"capturedAmount":{"currency":"JPY",'
        || '"value":0},"conclusiveReads":0,"index":0,"inquiries":0,"instrument":"tok-1","isCompensated":false,'
        || '"isOnePhase":false,"knowledge":{"amount":{"currency":"JPY","value":1200},"authorizedUntil":%6$s,'
        || '"began":%6$s,"captures":[],"key":"%4$s","refunds":[],"source":"answer","status":"authorized"},'
        || '"primary":{"acceptedAt":%6$s,"amount":{"currency":"JPY","value":1200},"attempts":1,'
        || '"credentialRefusals":0,"firstIntentAt":%6$s,"fruitless":0,"generation":0,'
        || '"hasUnboundedAttempt":false,"key":"%4$s","kind":"authorize","lastCode":"authorized",'
        || '"lastIntentAt":%6$s,"lastOutcome":5,"latestNotAfter":%6$s,"sentAfterDecline":0,"unsent":0,'
        || '"worst":5},"provider":"card"}],"metadata":{},"reference":"%2$s","refunds":[],"updatedAt":%6$s,'
        || '"version":2}',
        id, key, head, authorize, capture, at)
$body$;

CREATE FUNCTION reference.document_captured(id text, key text, head text, authorize text, capture text, at bigint)
RETURNS text LANGUAGE sql STABLE AS $body$
    SELECT format(
        '{"amount":{"currency":"JPY","value":1200},"auditHead":{"hash":"%3$s","sequence":7},'
        || '"caller":"bench-shop","captureMode":"automatic","conclusion":{"at":%6$s,"state":"succeeded"},'
        || '"createdAt":%6$s,"deadline":%6$s,"id":"%1$s","key":"%2$s","latch":"forward",'
        || '"latchAcknowledged":true,"legs":[{"amount":{"currency":"JPY","value":1200},'
        || '"capture":{"acceptedAt":%6$s,"amount":{"currency":"JPY","value":1200},"attempts":1,'
        || '"credentialRefusals":0,"firstIntentAt":%6$s,"fruitless":0,"generation":0,"hasUnboundedAttempt":true,'
        || '"key":"%5$s","kind":"capture","lastCode":"captured","lastIntentAt":%6$s,"lastOutcome":5,'
        || '"sentAfterDecline":0,"unsent":0,"worst":5},"capturedAmount":{"currency":"JPY","value":1200},'
        || '"conclusiveReads":0,"index":0,"inquiries":0,"instrument":"tok-1","isCompensated":false,'
        || '"isOnePhase":false,"knowledge":{"amount":{"currency":"JPY","value":1200},"authorizedUntil":%6$s,'
        || '"began":%6$s,"captures":[{"amount":{"currency":"JPY","value":1200},"key":"%5$s",'
        || '"state":"succeeded"}],"key":"%4$s","refunds":[],"source":"answer","status":"captured"},'
        || '"primary":{"acceptedAt":%6$s,"amount":{"currency":"JPY","value":1200},"attempts":1,'
        || '"credentialRefusals":0,"firstIntentAt":%6$s,"fruitless":0,"generation":0,'
        || '"hasUnboundedAttempt":false,"key":"%4$s","kind":"authorize","lastCode":"authorized",'
        || '"lastIntentAt":%6$s,"lastOutcome":5,"latestNotAfter":%6$s,"sentAfterDecline":0,"unsent":0,'
        || '"worst":5},"provider":"card"}],"metadata":{},"reference":"%2$s","refunds":[],"updatedAt":%6$s,'
        || '"version":3}',
        id, key, head, authorize, capture, at)
$body$;
