-- name: waiting_reviews
-- Decisions of the dashboard that are no events yet, in their order.
SELECT id, left_id, right_id, decision, person, batch_id::text, batch FROM match_reviews WHERE applied_at IS NULL ORDER BY id FOR UPDATE;

-- name: items_of_batches
-- The items of bulk decisions that are undone. $1: their ids in the dashboard.
SELECT p.item_id, p.survivor_id FROM events e JOIN events p ON p.part_of = e.no
WHERE e.kind = 'decisions' AND e.undone_at IS NULL AND e.terms ->> 'batch' = ANY($1::text[]);

-- name: batch
-- The event that a bulk decision of the dashboard became.
SELECT no FROM events WHERE kind = 'decisions' AND undone_at IS NULL AND terms ->> 'batch' = $1;

-- name: applied
-- $2: the event that the decision became, or that it undid; null where it changed nothing.
UPDATE match_reviews SET applied_at = statement_timestamp(), event_no = $2 WHERE id = $1;

-- name: there
-- Which of these items exist.
SELECT id FROM items WHERE id = ANY($1::bigint[]);
