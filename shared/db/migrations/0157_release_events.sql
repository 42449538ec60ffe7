-- phase: expand
-- One event for each dataset of a release; its dataset of changes comes with it.

DROP TRIGGER releases_logged ON releases;
CREATE TRIGGER releases_logged AFTER INSERT ON releases FOR EACH ROW
    WHEN (NEW.dataset NOT LIKE '%\_changes') EXECUTE FUNCTION log_release();
