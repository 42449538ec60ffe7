-- phase: expand
-- An organization disables its own webhooks: the audit log then names its person or key, by the statement that did it.
CREATE OR REPLACE FUNCTION log_webhook_disabled() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data) VALUES (NEW.organization_id, 'webhook.disabled',
        jsonb_build_object('webhook', NEW.id, 'reason', NEW.disabled_reason));
    IF context_organization() IS NULL THEN
        PERFORM write_audit(NEW.organization_id, NULL, 'the service', 'webhook.disabled', NEW.id::text);
    END IF;
    RETURN NULL;
END $$;
