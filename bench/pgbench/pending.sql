-- The rows of :rows payments that wait to be settled, in the tables of schema.sql: what settle.sql works on.
INSERT INTO reference.payments (id, caller, key, state, latch, reference, amount, currency, created_at, updated_at,
    version, due_at, due_provider, lease_holder, lease_token, lease_until, audit_seq, audit_hash, document)
SELECT 'pay_' || reference.hex('payment', number, 40), 'bench-shop', 'order-' || number, 'processing', 'none',
    NULL, 1200, 'JPY', reference.now_ms(), reference.now_ms(), 2, reference.now_ms(), 'card', NULL, 1, NULL, 5,
    reference.hex('5', number, 64), reference.document_created('pay_' || reference.hex('payment', number, 40),
        'order-' || number, reference.hex('5', number, 64), reference.hex('authorize', number, 40), '',
        reference.now_ms())
FROM generate_series(1, :rows) AS series (number);
INSERT INTO reference.legs (payment_id, leg, provider, first_at_provider, amount, captured, status, standing, created_at)
SELECT 'pay_' || reference.hex('payment', number, 40), 0, 'card', true, 1200, 0, NULL, 'open', reference.now_ms()
FROM generate_series(1, :rows) AS series (number);
INSERT INTO reference.effects (payment_id, provider, key, leg, kind, amount, generation, attempts, worst, status)
SELECT 'pay_' || reference.hex('payment', number, 40), 'card', reference.hex('authorize', number, 40), 0, 'sale', 1200,
    0, 1, 4, 'tried'
FROM generate_series(1, :rows) AS series (number);
