-- A group that cannot be made whole says which of its members could not be written, so that the others are written
-- together, and not one by one. The version before goes on with require_rows.
CREATE FUNCTION require_all(wanted text[], written text[]) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
    IF cardinality(wanted) <> coalesce(cardinality(written), 0) THEN
        RAISE EXCEPTION 'members of the group cannot be written' USING ERRCODE = 'RC001', DETAIL = (
            SELECT string_agg(name, ' ') FROM unnest(wanted) AS name WHERE name <> ALL (coalesce(written, '{}')));
    END IF;
    RETURN cardinality(wanted);
END
$body$;
