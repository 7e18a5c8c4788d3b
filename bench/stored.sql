-- Makes finished payments until there are :wanted, as copies of real ones under ids and keys of their own: what is
-- measured beside them meets tables and indexes of that size. Their documents and trails still speak of the originals;
-- nothing reads them. They count as sealed, as payments of the past are.
SET search_path TO reconciled;
SET reconciled.place = '100000';
CREATE TEMPORARY TABLE originals AS
    SELECT row_number() OVER () AS number, id FROM payments WHERE state = 'succeeded' LIMIT 1000;
CREATE TEMPORARY TABLE copies AS
    SELECT originals.id AS original,
        'pay_' || md5(series.number::text || '-' || :wanted) || substr(md5(series.number::text), 1, 8) AS id
    FROM generate_series(1, greatest(0, :wanted - (SELECT count(*) FROM payments))) AS series (number)
    JOIN originals ON originals.number = series.number % (SELECT count(*) FROM originals) + 1;
ANALYZE copies;

INSERT INTO payments SELECT (jsonb_populate_record(payments, jsonb_build_object('id', copies.id))).*
    FROM copies JOIN payments ON payments.id = copies.original;
INSERT INTO legs SELECT copies.id, leg, provider, first_at_provider, amount, captured, status, standing, created_at,
        md5(copies.id || key), currency, refunds, stands, work
    FROM copies JOIN legs ON legs.payment_id = copies.original;
INSERT INTO effects SELECT copies.id, provider, md5(copies.id || key), leg, kind, amount, generation, attempts, worst,
        status
    FROM copies JOIN effects ON effects.payment_id = copies.original;
INSERT INTO events (payment_id, seq, at, type, leg, fields, prev, hash)
    SELECT copies.id, seq, at, type, leg, fields, prev, hash
    FROM copies JOIN events ON events.payment_id = copies.original;
INSERT INTO idempotency_keys
    SELECT copies.id, caller, md5(copies.id), operation, copies.id, fingerprint, created_at, pruned, answer_status,
        answer_type, answer_location, answer_body
    FROM copies JOIN idempotency_keys ON place = copies.original;
INSERT INTO seals SELECT coalesce(max(seals.number), 0) + 1, 0, 0, (SELECT max(id) FROM events), repeat('0', 64),
        repeat('0', 64)
    FROM seals;
