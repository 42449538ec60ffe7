-- name: stated
-- What the sources of items state their identifiers to be, in the order of days: loads that follow each other and state the
-- same are one row. $1: items.
WITH claims AS (
    SELECT c.item_id, c.source_id, c.no, c.first_day, c.as_of, k.identifiers,
           lag(k.identifiers) OVER w IS DISTINCT FROM k.identifiers AS differs
    FROM item_claims c JOIN item_contents k USING (item_id, content_hash) WHERE c.item_id = ANY($1::bigint[])
    WINDOW w AS (PARTITION BY c.item_id, c.source_id ORDER BY c.as_of, c.no)),
numbered AS (
    SELECT *, count(*) FILTER (WHERE differs) OVER (PARTITION BY item_id, source_id ORDER BY as_of, no) AS n FROM claims)
SELECT item_id, source_id, identifiers, min(first_day) AS seen_from, min(as_of) AS first, max(as_of) AS last
FROM numbered GROUP BY item_id, source_id, n, identifiers ORDER BY item_id, source_id, n;
