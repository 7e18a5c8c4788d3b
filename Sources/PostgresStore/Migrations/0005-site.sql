-- The site that may write, as one row: it is replicated with everything else, so that a standby knows whose it is. The
-- version of the program before this one does not name its term; before a second site is used, all daemons are of this one.
CREATE TABLE site_state (
    sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
    -- The number of the newest term; 0 until a daemon opens the store for the first time.
    epoch bigint NOT NULL,
    site text NOT NULL,
    phase text NOT NULL,
    mode text NOT NULL,
    -- Until when the site's right to act was proven outside of this database; NULL while it acts without.
    lease_until bigint,
    proof text NOT NULL,
    replication text NOT NULL,
    final_position text,
    recoveries text NOT NULL
) WITH (fillfactor = 50);
INSERT INTO site_state (epoch, site, phase, mode, proof, replication, recoveries)
    VALUES (0, '', 'active', 'full', 'none', 'unknown', '[]');

-- Every term that began, and who began it and why.
CREATE TABLE site_terms (
    epoch bigint PRIMARY KEY,
    document text NOT NULL
);
CREATE TRIGGER site_terms_stay BEFORE UPDATE OR DELETE ON site_terms
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE FUNCTION keep_epoch() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP = 'DELETE' OR new.epoch < old.epoch THEN
        RAISE EXCEPTION 'the number of a term never falls';
    END IF;
    RETURN new;
END
$body$;
CREATE TRIGGER site_state_keeps BEFORE UPDATE OR DELETE ON site_state
    FOR EACH ROW EXECUTE FUNCTION keep_epoch();

-- Each transaction that writes calls this first. The lock is shared with the others and kept until the transaction has
-- ended: a term begins or ends under the exclusive one, so that nothing of an older term is committed after that.
CREATE FUNCTION require_site(wanted text, number bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    known site_state;
BEGIN
    PERFORM pg_advisory_xact_lock_shared('site_state'::regclass::oid::bigint);
    -- A statement of its own, so that it sees what was committed while it waited.
    SELECT * INTO known FROM site_state WHERE sole;
    IF known.site IS DISTINCT FROM wanted OR known.epoch <> number OR known.phase NOT IN ('active', 'draining') THEN
        RAISE EXCEPTION 'term % of site % is over', number, wanted USING ERRCODE = 'RC002',
            DETAIL = format('term %s of site %s is %s', known.epoch, known.site, known.phase);
    END IF;
    -- A standby that was told that nothing is acknowledged without it must be able to rely on that.
    IF known.lease_until IS NOT NULL AND known.replication = 'synchronous'
        AND current_setting('synchronous_standby_names') = ''
    THEN
        RAISE EXCEPTION 'term % promises synchronous replication, which is switched off', number
            USING ERRCODE = 'RC003';
    END IF;
    RETURN number;
END
$body$;

-- At the beginning of a term: nobody of an older one can write any more, and nobody need wait for their leases.
CREATE FUNCTION end_leases() RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    ended bigint;
BEGIN
    UPDATE payments SET lease_holder = NULL, lease_until = NULL WHERE lease_until IS NOT NULL;
    GET DIAGNOSTICS ended = ROW_COUNT;
    UPDATE comparison_lanes SET holder = NULL, until = NULL WHERE holder IS NOT NULL;
    RETURN ended;
END
$body$;
