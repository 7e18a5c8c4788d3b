-- One commit as the daemon makes it when an inquiry settles a payment that was in doubt: for pgbench, over the rows that
-- pending.sql made. :rows is how many there are.
--
-- Statements and sizes of the rows as in the third commit of payment.sql. Left out, in favour of this reference: the
-- claim of the payment, and reading it.
\set number random(1, :rows)
\set sequence random(10, 2000000000)
BEGIN;
UPDATE reference.payments SET state = 'succeeded', updated_at = reference.now_ms(), version = version + 1, due_at = NULL,
    due_provider = '', lease_holder = NULL, lease_until = NULL, audit_seq = 7,
    audit_hash = reference.hex('7', :number, 64),
    document = reference.document_captured(id, key, reference.hex('7', :number, 64),
        reference.hex('authorize', :number, 40), reference.hex('capture', :number, 40), reference.now_ms())
WHERE id = 'pay_' || reference.hex('payment', :number, 40);
UPDATE reference.legs SET captured = 1200, status = 'captured'
WHERE payment_id = 'pay_' || reference.hex('payment', :number, 40) AND leg = 0;
UPDATE reference.effects SET worst = 5, status = 'accepted'
WHERE payment_id = 'pay_' || reference.hex('payment', :number, 40) AND provider = 'card'
    AND key = reference.hex('authorize', :number, 40);
INSERT INTO reference.events (payment_id, seq, at, type, leg, fields, prev, hash)
VALUES ('pay_' || reference.hex('payment', :number, 40), :sequence, reference.now_ms(), 'inquiry', 0,
    '[["status","captured"],["source","inquiry"],["amount","1200 JPY"],["refunded","0"]]',
    reference.hex('5', :number, 64), reference.hex('6', :number, 64)),
    ('pay_' || reference.hex('payment', :number, 40), :sequence + 1, reference.now_ms(), 'latch', NULL,
    '[["from","none"],["to","forward"],["row","none.complete"]]',
    reference.hex('5', :number, 64), reference.hex('6', :number, 64)),
    ('pay_' || reference.hex('payment', :number, 40), :sequence + 2, reference.now_ms(), 'concluded', NULL,
    '[["state","succeeded"],["row","forward.complete"],["reason","-"]]',
    reference.hex('6', :number, 64), reference.hex('7', :number, 64));
COMMIT;
