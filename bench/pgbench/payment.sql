-- One payment of one two-phase leg as pgbench would make it durable: the three commits of the daemon, one by one.
--
-- The same as in the daemon: columns, keys and indexes (schema.sql); which rows each commit writes, 2, 3 and 2 events;
-- the size and shape of their texts, taken from a payment of the daemon; the version and the lease in the WHERE of each
-- update; fsync and synchronous_commit as the server has them.
-- Left out, all in favour of this reference: triggers; the provider, its answers and the time they take; the caller's
-- HTTP; reading the idempotency key; the texts on the wire, because the server makes them (schema.sql); and the fourth
-- write of a payment whose caller waits, its answer beside the idempotency key, unless keep_answer is 1.
--
-- :number is what all ids of the payment derive from: 55 random bits, and the client in the lowest 8, so that two
-- clients never meet. With pipeline 1 the statements of a commit are sent together, without waiting between them.
--
--   pgbench -n -c 64 -j 2 -T 15 -M prepared -D pipeline=0 -D keep_answer=0 --random-seed=rand -f payment.sql

\set number random(0, 36028797018963967) * 256 + :client_id

-- 1: the payment, its key, and the intent to authorize. Nothing is on the wire yet.
\if :pipeline
\startpipeline
\endif
BEGIN;
INSERT INTO reference.idempotency_keys (place, caller, key, operation, payment_id, fingerprint, created_at, pruned)
VALUES ('pay_' || reference.hex('payment', :number, 40), 'bench-shop', 'order-' || :number, 'create',
    'pay_' || reference.hex('payment', :number, 40), reference.hex('fingerprint', :number, 64), reference.now_ms(),
    false);
INSERT INTO reference.payments (id, caller, key, state, latch, reference, amount, currency, created_at, updated_at,
    version, due_at, due_provider, lease_holder, lease_token, lease_until, audit_seq, audit_hash, document)
VALUES ('pay_' || reference.hex('payment', :number, 40), 'bench-shop', 'order-' || :number, 'processing', 'none',
    'order-' || :number, 1200, 'JPY', reference.now_ms(), reference.now_ms(), 1, reference.now_ms(), 'card',
    'main-E4A96976-17D3-4E7B-9857-BEE068F7C22A', 1, reference.now_ms() + 30000, 2, reference.hex('2', :number, 64),
    reference.document_created('pay_' || reference.hex('payment', :number, 40), 'order-' || :number,
        reference.hex('2', :number, 64), reference.hex('authorize', :number, 40), '', reference.now_ms()));
INSERT INTO reference.legs (payment_id, leg, provider, first_at_provider, amount, captured, status, standing,
    created_at)
VALUES ('pay_' || reference.hex('payment', :number, 40), 0, 'card', true, 1200, 0, NULL, 'open', reference.now_ms());
INSERT INTO reference.effects (payment_id, provider, key, leg, kind, amount, generation, attempts, worst, status)
VALUES ('pay_' || reference.hex('payment', :number, 40), 'card', reference.hex('authorize', :number, 40), 0,
    'authorize', 1200, 0, 1, 0, 'open');
INSERT INTO reference.events (payment_id, seq, at, type, leg, fields, prev, hash)
VALUES ('pay_' || reference.hex('payment', :number, 40), 1, reference.now_ms(), 'created', NULL,
    '[["amount","1200 JPY"],["legs","card 1200 JPY"],["capture","automatic"],["deadline","2030-01-01T00:00:00.000Z"]]',
    reference.hex('0', :number, 64), reference.hex('1', :number, 64)),
    ('pay_' || reference.hex('payment', :number, 40), 2, reference.now_ms(), 'intent', 0,
    '[["effect","primary"],["kind","authorize"],["attempt","1"],["key","' || reference.hex('authorize', :number, 40)
        || '"],["amount","1200 JPY"],["row","do.first"]]',
    reference.hex('1', :number, 64), reference.hex('2', :number, 64));
COMMIT;
\if :pipeline
\endpipeline
\endif

-- 2: the authorization was accepted; the latch, and the intent to capture.
\if :pipeline
\startpipeline
\endif
BEGIN;
UPDATE reference.payments SET latch = 'forward', updated_at = reference.now_ms(), version = 2,
    due_at = reference.now_ms(), audit_seq = 5, audit_hash = reference.hex('5', :number, 64),
    document = reference.document_authorized(id, key, reference.hex('5', :number, 64),
        reference.hex('authorize', :number, 40), reference.hex('capture', :number, 40), reference.now_ms())
WHERE id = 'pay_' || reference.hex('payment', :number, 40) AND version = 1 AND audit_seq = 2
    AND audit_hash = reference.hex('2', :number, 64) AND lease_holder IS NOT NULL AND lease_token = 1;
UPDATE reference.legs SET status = 'authorized'
WHERE payment_id = 'pay_' || reference.hex('payment', :number, 40) AND leg = 0;
UPDATE reference.effects SET worst = 5, status = 'accepted'
WHERE payment_id = 'pay_' || reference.hex('payment', :number, 40) AND provider = 'card'
    AND key = reference.hex('authorize', :number, 40);
INSERT INTO reference.effects (payment_id, provider, key, leg, kind, amount, generation, attempts, worst, status)
VALUES ('pay_' || reference.hex('payment', :number, 40), 'card', reference.hex('capture', :number, 40), 0, 'capture',
    1200, 0, 1, 0, 'open');
INSERT INTO reference.events (payment_id, seq, at, type, leg, fields, prev, hash)
VALUES ('pay_' || reference.hex('payment', :number, 40), 3, reference.now_ms(), 'outcome', 0,
    '[["effect","primary"],["kind","authorize"],["attempt","1"],["outcome","accepted"],'
        || '["code","authorized"],["bytes_written","603"],["status","authorized"]]',
    reference.hex('2', :number, 64), reference.hex('3', :number, 64)),
    ('pay_' || reference.hex('payment', :number, 40), 4, reference.now_ms(), 'latch', NULL,
    '[["latch","forward"],["row","none.complete"]]',
    reference.hex('3', :number, 64), reference.hex('4', :number, 64)),
    ('pay_' || reference.hex('payment', :number, 40), 5, reference.now_ms(), 'intent', 0,
    '[["effect","capture"],["kind","capture"],["attempt","1"],["key","' || reference.hex('capture', :number, 40)
        || '"],["amount","1200 JPY"],["row","do.first"]]',
    reference.hex('4', :number, 64), reference.hex('5', :number, 64));
COMMIT;
\if :pipeline
\endpipeline
\endif

-- 3: the capture was accepted; the payment succeeded, and its lease ends.
\if :pipeline
\startpipeline
\endif
BEGIN;
UPDATE reference.payments SET state = 'succeeded', updated_at = reference.now_ms(), version = 3, due_at = NULL,
    due_provider = '', lease_holder = NULL, lease_until = NULL, audit_seq = 7,
    audit_hash = reference.hex('7', :number, 64),
    document = reference.document_captured(id, key, reference.hex('7', :number, 64),
        reference.hex('authorize', :number, 40), reference.hex('capture', :number, 40), reference.now_ms())
WHERE id = 'pay_' || reference.hex('payment', :number, 40) AND version = 2 AND audit_seq = 5
    AND audit_hash = reference.hex('5', :number, 64) AND lease_holder IS NOT NULL AND lease_token = 1;
UPDATE reference.legs SET captured = 1200, status = 'captured'
WHERE payment_id = 'pay_' || reference.hex('payment', :number, 40) AND leg = 0;
UPDATE reference.effects SET worst = 5, status = 'accepted'
WHERE payment_id = 'pay_' || reference.hex('payment', :number, 40) AND provider = 'card'
    AND key = reference.hex('capture', :number, 40);
INSERT INTO reference.events (payment_id, seq, at, type, leg, fields, prev, hash)
VALUES ('pay_' || reference.hex('payment', :number, 40), 6, reference.now_ms(), 'outcome', 0,
    '[["effect","capture"],["kind","capture"],["attempt","1"],["outcome","accepted"],'
        || '["code","captured"],["bytes_written","452"],["status","captured"]]',
    reference.hex('5', :number, 64), reference.hex('6', :number, 64)),
    ('pay_' || reference.hex('payment', :number, 40), 7, reference.now_ms(), 'concluded', NULL,
    '[["state","succeeded"],["row","forward.complete"],["reason","-"]]',
    reference.hex('6', :number, 64), reference.hex('7', :number, 64));
COMMIT;
\if :pipeline
\endpipeline
\endif

-- By option, the caller's answer beside its key: one statement, one more commit.
\if :keep_answer
UPDATE reference.idempotency_keys SET answer_status = 201, answer_type = 'application/json',
    answer_location = '/v1/payments/' || payment_id,
    answer_body =
        convert_to(repeat('{"value":1200,"currency":"JPY"},', 20), 'UTF8')
WHERE place = 'pay_' || reference.hex('payment', :number, 40) AND answer_status IS NULL;
\endif
