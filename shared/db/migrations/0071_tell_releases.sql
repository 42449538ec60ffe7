-- phase: expand
-- Edges hear of a new, changed or deleted release when it is committed: they keep the list of datasets as they answered it.

CREATE FUNCTION tell_releases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('releases', '');
    RETURN NULL;
END $$;
CREATE TRIGGER releases_told AFTER INSERT OR UPDATE OR DELETE ON releases FOR EACH ROW EXECUTE FUNCTION tell_releases();
