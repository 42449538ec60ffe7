-- name: pairs
-- Run by DuckDB over the rows `signed` of one dataset: those that came are +1, those that went -1, and what is in both is
-- nothing. A row that went and one that came with the same key are an update; of several with one key, the first with the
-- first. Where only the flag differs, the flag is the reason; an older flag is none for what else has changed since.
INSERT INTO {table}
WITH net AS (
    SELECT {columns}, sum(_sign)::bigint AS _times, arg_max(_reason, _version) AS _reason
    FROM signed GROUP BY {columns} HAVING sum(_sign) <> 0
), placed AS (
    SELECT {columns}, _reason, _times > 0 AS _after,
           row_number() OVER (PARTITION BY {key}, _times > 0 ORDER BY {columns}) AS _place
    FROM (SELECT net.*, unnest(range(abs(_times))) FROM net)
), paired AS (
    SELECT {columns}, _place, _after, count(*) OVER pair = 2 AS _is_update, arg_max(_reason, _after) OVER pair AS _reason,
           {flag} AND count(*) OVER pair = 2 AND min({unflagged}) OVER pair = max({unflagged}) OVER pair AS _is_flag
    FROM placed WINDOW pair AS (PARTITION BY {key}, _place)
)
SELECT {columns}, _place, _after, _is_update,
       CASE WHEN _is_flag THEN 'outlier-flag' WHEN _reason = 'outlier-flag' THEN 'source' ELSE _reason END
FROM paired;

-- name: moves
-- Whose rows are now another's: a merge moves them to the survivor, a split back. An item that is gone was not split.
CREATE TABLE moves AS
SELECT "from" AS old, "to" AS new, 'merge' AS reason FROM merged WHERE _after AND NOT _is_update
UNION SELECT "to", "from", 'split' FROM merged
WHERE NOT _after AND NOT _is_update AND "from" NOT IN (SELECT iid FROM items WHERE NOT _after AND NOT _is_update)
UNION SELECT b."to", a."to", 'merge' FROM merged b JOIN merged a ON a."from" = b."from"
WHERE a._is_update AND b._is_update AND a._after AND NOT b._after AND a."to" <> b."to";

-- name: touched
-- Items that were merged, split, or lost a source.
CREATE TABLE touched AS
SELECT 'item' AS kind, iid AS key, min(reason) AS reason FROM (
    SELECT unnest([old, new]) AS iid, reason FROM moves
    UNION ALL SELECT b.iid, 'withdrawal' FROM items b JOIN items a ON a.iid = b.iid
    WHERE a._is_update AND b._is_update AND a._after AND NOT b._after
      AND NOT list_has_all(a.sources->>'$[*].source', b.sources->>'$[*].source'))
GROUP BY iid;

-- name: moved
-- Observations that are the same but for their item: they did not come from a source, nor were they withdrawn.
UPDATE observations SET _reason = m.reason FROM (
    SELECT unnest([went.rowid, came.rowid]) AS id, moves.reason
    FROM moves JOIN observations went ON went.iid = moves.old JOIN observations came ON came.iid = moves.new
    WHERE came._after AND NOT came._is_update AND NOT went._after AND NOT went._is_update
      AND (went.day, went.channel, went.kind, went.source, went.currency, went.price_minor, went.units)
        = (came.day, came.channel, came.kind, came.source, came.currency, came.price_minor, came.units)
      AND went.list_minor IS NOT DISTINCT FROM came.list_minor) m
WHERE observations.rowid = m.id;

-- name: reasons
-- The reason of the item, brand or category that a row is of; else a row that is gone was withdrawn.
UPDATE {table} SET _reason = coalesce(
    (SELECT t.reason FROM touched t WHERE t.kind = '{kind}' AND t.key = {table}."{column}"),
    CASE WHEN _after OR _is_update THEN '{usual}' ELSE 'withdrawal' END)
WHERE _reason IS NULL;

-- name: touched_groups
-- Brands and categories, and the categories above them, change for the reason of most items that came, went or moved.
INSERT INTO touched
WITH members AS (
    SELECT brand_slug, category, _reason FROM items
    QUALIFY NOT _is_update OR _reason IN ('merge', 'split') OR min(hash(status, brand_slug, category)) OVER (PARTITION BY iid)
        <> max(hash(status, brand_slug, category)) OVER (PARTITION BY iid)
), named AS (
    SELECT 'brand' AS kind, brand_slug AS key, _reason FROM members
    UNION ALL
    SELECT 'category', unnest(list_transform(range(1, len(string_split(category, '.')) + 1),
                                         lambda n: array_to_string(string_split(category, '.')[1:n], '.'))), _reason FROM members
), counted AS (
    SELECT kind, key, _reason, count(*) AS n FROM named WHERE key IS NOT NULL GROUP BY kind, key, _reason
)
SELECT kind, key, arg_max(_reason, (n, _reason)) FROM counted GROUP BY kind, key;

-- name: changes
-- In the order of the dataset, an update's two rows one after the other: always the same for the same releases.
SELECT {columns},
       CASE WHEN NOT _is_update THEN if(_after, 'insert', 'delete') ELSE if(_after, 'update_postimage', 'update_preimage') END
           AS _change_type, _reason AS _change_reason, $version::bigint AS _data_version
FROM {table} ORDER BY {order}, {key}, _place, _after;
