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
