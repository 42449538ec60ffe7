-- phase: expand
-- A webhook that an operator disables says so in the audit log of its organization. Operators work as the owner of the schema,
-- the service as roles that may do less.

CREATE OR REPLACE FUNCTION log_webhook_disabled() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO event_log (organization_id, type, data) VALUES (NEW.organization_id, 'webhook.disabled',
        jsonb_build_object('webhook', NEW.id, 'reason', NEW.disabled_reason));
    IF context_organization() IS NULL THEN
        PERFORM write_audit(NEW.organization_id, NULL,
            CASE WHEN pg_has_role(session_user, current_user, 'MEMBER') THEN 'an operator' ELSE 'the service' END,
            'webhook.disabled', NEW.id::text);
    END IF;
    RETURN NULL;
END $$;
