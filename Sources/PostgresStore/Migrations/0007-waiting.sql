-- Operations that wait for people or for time: a row for each, as long as it waits. A row counts only while its version
-- is that of its payment, because the version of the program before this one writes payments and not these rows.
CREATE TABLE waiting_operations (
    payment_id text COLLATE "C" NOT NULL,
    operation text NOT NULL,
    waits_for text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (payment_id, operation, waits_for)
) WITH (fillfactor = 70);
CREATE INDEX waiting_operations_for ON waiting_operations (waits_for, payment_id);

-- What waits for people already. The operation of a quarantined leg is written anew when its status is read, once a
-- day.
INSERT INTO waiting_operations (payment_id, operation, waits_for, version)
    SELECT id, 'create', 'people', version FROM payments WHERE state = 'quarantined' AND state <> 'succeeded'
    UNION
    SELECT payments.id, 'refund', 'people', payments.version
    FROM effects JOIN payments ON payments.id = effects.payment_id
    WHERE effects.kind = 'refund' AND effects.status = 'quarantined';
