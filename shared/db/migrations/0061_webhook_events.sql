-- phase: expand
-- Whether an endpoint has an event to send: the dispatcher and the workers that deliver ask the same. The endpoint is an
-- argument and not a row that the function reads: a claim that waited for a concurrent one decides by the new row.

CREATE FUNCTION webhook_has_event(endpoint webhook_endpoints) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM webhook_replays r WHERE r.endpoint_id = endpoint.id)
        OR EXISTS (SELECT FROM event_log l WHERE l.organization_id = endpoint.organization_id AND l.number > endpoint.position
                   AND (endpoint.types IS NULL OR l.type = ANY (endpoint.types)))
        OR EXISTS (SELECT FROM event_log l WHERE l.organization_id IS NULL AND l.number > endpoint.position
                   AND (endpoint.types IS NULL OR l.type = ANY (endpoint.types)))
$$;
