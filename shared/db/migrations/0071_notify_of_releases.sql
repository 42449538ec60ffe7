-- phase: expand
-- Edges hear of a new, changed or deleted release when it is committed: they keep the list of datasets as they answered it.

CREATE FUNCTION notify_of_releases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('releases', '');
    RETURN NULL;
END $$;
CREATE TRIGGER releases_notified AFTER INSERT OR UPDATE OR DELETE ON releases FOR EACH ROW EXECUTE FUNCTION notify_of_releases();
