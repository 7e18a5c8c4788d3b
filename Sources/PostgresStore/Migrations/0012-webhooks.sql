-- Webhooks: what is reported of a payment to its caller, raised in the transaction that changes the payment.
CREATE TABLE webhooks (
    payment_id text COLLATE "C" PRIMARY KEY,
    caller text COLLATE "C" NOT NULL,
    reported text NOT NULL,
    raised bigint NOT NULL,
    raised_at bigint NOT NULL,
    delivered bigint NOT NULL DEFAULT 0,
    delivered_at bigint,
    due_at bigint,
    attempts bigint NOT NULL DEFAULT 0,
    failure text,
    token bigint NOT NULL DEFAULT 0,
    lease_until bigint,
    CONSTRAINT delivered_was_raised CHECK (delivered <= raised),
    CONSTRAINT due_is_open CHECK (due_at IS NULL OR delivered < raised)
) WITH (fillfactor = 70);
CREATE INDEX webhooks_due ON webhooks (caller, due_at, payment_id) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_open ON webhooks (caller, raised_at, payment_id) WHERE delivered < raised;
CREATE INDEX webhooks_raised ON webhooks (raised_at, payment_id);
CREATE INDEX webhooks_of_caller ON webhooks (caller, raised_at, payment_id);
