-- name: page
-- Two short reads of one index each: the organization's own events, and those of every organization.
(SELECT number, id::text, type, at, data FROM event_log
 WHERE organization_id = $1::uuid AND number > $2 AND ($3::text[] IS NULL OR type = ANY ($3)) ORDER BY number LIMIT $4)
UNION ALL
(SELECT number, id::text, type, at, data FROM event_log
 WHERE organization_id IS NULL AND number > $2 AND ($3::text[] IS NULL OR type = ANY ($3)) ORDER BY number LIMIT $4)
ORDER BY number LIMIT $4;

-- name: newest
-- As `page`, but those before $2, the newest first.
(SELECT number, id::text, type, at, data FROM event_log
 WHERE organization_id = $1::uuid AND number < $2 AND ($3::text[] IS NULL OR type = ANY ($3)) ORDER BY number DESC LIMIT $4)
UNION ALL
(SELECT number, id::text, type, at, data FROM event_log
 WHERE organization_id IS NULL AND number < $2 AND ($3::text[] IS NULL OR type = ANY ($3)) ORDER BY number DESC LIMIT $4)
ORDER BY number DESC LIMIT $4;

-- name: deleted_up_to
-- The newest event that is no longer kept. Read after the page, so that a deletion meanwhile is noticed.
SELECT up_to FROM event_log_deleted;
