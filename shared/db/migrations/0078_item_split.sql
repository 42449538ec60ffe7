-- phase: expand
-- An item that is no longer part of another one has an event that names the item that it was part of. `item.restored`
-- stays beside it, for receivers that know only that one.

CREATE OR REPLACE FUNCTION log_item_state() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF OLD.status = 'merged' AND NEW.status = 'active' THEN
        INSERT INTO event_log (type, data) VALUES (
            'item.split', jsonb_build_object('iid', NEW.iid, 'survivor_iid', OLD.survivor_iid));
    END IF;
    INSERT INTO event_log (type, data) VALUES (
        CASE NEW.status WHEN 'merged' THEN 'item.merged' WHEN 'withdrawn' THEN 'item.withdrawn' ELSE 'item.restored' END,
        jsonb_build_object('iid', NEW.iid, 'survivor_iid', NEW.survivor_iid));
    RETURN NULL;
END $$;
