-- name: item
-- By the IID that an operator names.
SELECT id FROM items WHERE iid = $1;

-- name: named
-- The items that an act names.
SELECT DISTINCT n.id FROM unnest($1::bigint[]) AS n (id) WHERE n.id IS NOT NULL;

-- name: latest_act
-- The act that makes an item what it is now: it is in effect, so it is among what changed the item.
SELECT max(e.no) FROM events e JOIN items i ON i.id = e.item_id JOIN item_changes c ON c.no = e.no AND c.item_id = e.item_id
WHERE i.iid = $1 AND e.kind IN ('merge', 'withdrawal') AND e.undone_at IS NULL;

-- name: together
-- Whether two items are part of one article now.
SELECT 1 FROM (SELECT coalesce(x.owner_id, n.id) AS owner_id FROM unnest(ARRAY[$1::bigint, $2::bigint]) AS n (id)
               LEFT JOIN inactive_items x ON x.item_id = n.id) owners
HAVING count(DISTINCT owner_id) = 1;

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

-- name: latest_of_pair
-- The newest decision on a pair that was not undone. $1, $2: its items, the one with the least id first.
SELECT max(e.no) FROM events e WHERE e.kind IN ('link', 'separation') AND e.undone_at IS NULL
  AND least(e.item_id, e.survivor_id) = $1::bigint AND greatest(e.item_id, e.survivor_id) = $2::bigint;

-- name: there
-- Which of these items exist.
SELECT id FROM items WHERE id = ANY($1::bigint[]);

-- name: active_before
-- How many items were active before an event. $1: those that it merges.
SELECT count(*) FROM items i
WHERE i.id = ANY($1::bigint[]) OR NOT EXISTS (SELECT FROM inactive_items x WHERE x.item_id = i.id);

-- name: begin
-- A load without files: so it is listed and undone like one, and the same files can be loaded again after it.
INSERT INTO loads (source, mapping, state, finished_at, summary)
VALUES ($1, '', 'committed', statement_timestamp(), $2) RETURNING id::text;

-- name: source
-- A name that is none would delete nothing in silence.
SELECT id FROM sources WHERE name = $1;

-- name: chosen
-- Every observation that any load has claimed of these days: a claim that does not hold now must not hold later either.
CREATE TEMP TABLE chosen ON COMMIT DROP AS
SELECT DISTINCT ON (item_id, day, mark) item_id, day, mark, channel_id, source_id, kind, currency, holds
FROM (SELECT o.item_id, o.day, o.mark, o.channel_id, o.source_id, o.kind, o.currency, true AS holds FROM observations o
      WHERE o.day BETWEEN $3 AND $4
      UNION ALL SELECT c.item_id, c.day, c.mark, c.channel_id, c.source_id, c.kind, c.currency, false FROM observation_claims c
      WHERE c.day BETWEEN $3 AND $4) every
WHERE ($1::smallint IS NULL OR source_id = $1) AND ($2::bigint[] IS NULL OR item_id = ANY($2::bigint[]))
ORDER BY item_id, day, mark, holds DESC;

-- name: by_month
-- How many observations of how many items each month loses.
SELECT date_trunc('month', day)::date, count(*), count(DISTINCT item_id) FROM chosen WHERE holds GROUP BY 1 ORDER BY 1;

-- name: items
-- For what is made anew.
SELECT DISTINCT item_id FROM chosen WHERE holds;

-- name: tombstones
-- The claim that there is no such observation.
INSERT INTO observation_claims (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no)
SELECT item_id, mark, NULL, NULL, day, channel_id, 0, source_id, kind, currency, $1 FROM chosen;

-- name: changed_observations
-- The observation that held until now stays as a claim, so that undoing the deletion brings it back.
CREATE TEMP TABLE changed_observations ON COMMIT DROP AS
WITH gone AS (
    DELETE FROM observations o USING chosen c WHERE c.holds AND o.item_id = c.item_id AND o.day = c.day AND o.mark = c.mark
    RETURNING o.item_id, o.mark, o.price_minor, o.list_minor, o.day, o.channel_id, o.units, o.source_id, o.kind, o.currency, o.load_no),
kept AS (
    INSERT INTO observation_claims (item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no)
    SELECT item_id, mark, price_minor, list_minor, day, channel_id, units, source_id, kind, currency, load_no FROM gone)
SELECT item_id, day, mark FROM gone;

-- name: changes
-- The records of these items show other prices now.
INSERT INTO item_changes (item_id, no, at) SELECT DISTINCT item_id, $1::integer, $2::timestamptz FROM changed_observations;

-- name: group
-- An item and all that are merged into it, which a caller sees under its IID.
SELECT i.id FROM items i WHERE i.iid = $1 UNION SELECT x.item_id FROM inactive_items x JOIN items i ON i.id = x.owner_id WHERE i.iid = $1;
