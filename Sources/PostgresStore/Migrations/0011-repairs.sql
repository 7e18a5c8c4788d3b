-- Repairs, which one person proposes and another one decides. That nobody approves what they proposed is kept here,
-- whatever a program believes.
CREATE TABLE repairs (
    id text COLLATE "C" PRIMARY KEY,
    payment_id text COLLATE "C" NOT NULL,
    state text NOT NULL CHECK (state IN ('proposed', 'approved', 'rejected')),
    proposed_by text NOT NULL,
    decided_by text,
    proposed_at bigint NOT NULL,
    document text NOT NULL,
    CONSTRAINT decided_by_somebody CHECK ((state = 'proposed') = (decided_by IS NULL)),
    CONSTRAINT approved_by_another CHECK (state <> 'approved' OR decided_by <> proposed_by)
);
CREATE INDEX repairs_proposed ON repairs (proposed_at, id);
CREATE INDEX repairs_waiting ON repairs (proposed_at, id) WHERE state = 'proposed';
CREATE INDEX repairs_of_payment ON repairs (payment_id, proposed_at, id);

CREATE FUNCTION decide_once() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF old.state <> 'proposed' OR (new.id, new.payment_id, new.proposed_by, new.proposed_at)
        IS DISTINCT FROM (old.id, old.payment_id, old.proposed_by, old.proposed_at)
    THEN
        RAISE EXCEPTION 'a repair is decided once';
    END IF;
    RETURN new;
END
$body$;
CREATE TRIGGER repairs_are_decided_once BEFORE UPDATE ON repairs FOR EACH ROW EXECUTE FUNCTION decide_once();
CREATE TRIGGER repairs_stay BEFORE DELETE ON repairs FOR EACH ROW EXECUTE FUNCTION refuse_change();
