-- name: known_by_id
-- Items by the ids that source $1 gives them.
SELECT t.source_item_id, i.id, i.iid FROM item_sources t JOIN sources s ON s.id = t.source_id JOIN items i ON i.id = t.item_id
WHERE s.name = $1 AND t.source_item_id = ANY($2::text[]);

-- name: known_by_iid
-- Items by their IIDs, as files write them.
SELECT n.given, i.id, i.iid FROM unnest($1::text[]) AS n (given) JOIN items i ON i.iid = upper(n.given);

-- name: known_by_identifier
-- Active items by identifiers in the form in which they are compared, as a resolve finds them: a merged item leads to its
-- survivor, a withdrawn one to nothing. $4: of which source alone; empty for any. Two items are enough to know that there are
-- several; the bound inside keeps a text that a million items share from being sorted.
SELECT n.given, found.id, found.iid
FROM unnest($2::text[], $3::text[]) AS n (given, value), LATERAL (
    SELECT DISTINCT i.id, i.iid
    FROM (SELECT t.item_id FROM item_identifiers t
          WHERE t.scheme = $1 AND t.value = n.value
            AND ($4::text = '' OR t.source_id = (SELECT s.id FROM sources s WHERE s.name = $4::text))
          LIMIT 1000) hit
    LEFT JOIN inactive_items x USING (item_id)
    JOIN items i ON i.id = CASE WHEN x.item_id IS NULL THEN hit.item_id ELSE x.owner_id END
    LIMIT 2) found;

-- name: shown_identifiers
-- Those of a scheme that is only shown have no index: they are gathered once, for all batches of a load.
CREATE TEMP TABLE IF NOT EXISTS shown_identifiers (value text, id bigint, iid text);

-- name: forget_shown
-- Those that an earlier load by the same connection has gathered may be of another scheme.
DELETE FROM shown_identifiers;

-- name: gather_shown
-- Of active items, as their records show them. $2: of which source alone; empty for any.
INSERT INTO shown_identifiers
SELECT e.one ->> 'value', i.id, i.iid FROM items i, jsonb_array_elements(i.identifiers) AS e (one)
WHERE i.status = 'active' AND e.one ->> 'scheme' = $1
  AND ($2::text = '' OR EXISTS (SELECT FROM item_sources t JOIN sources s ON s.id = t.source_id WHERE t.item_id = i.id AND s.name = $2::text));

-- name: index_shown
-- Made when the table is filled.
CREATE INDEX IF NOT EXISTS shown_identifiers_value ON shown_identifiers USING hash (value);

-- name: known_by_shown
-- Each batch looks up its own texts.
SELECT DISTINCT n.given, t.id, t.iid FROM unnest($1::text[]) AS n (given) JOIN shown_identifiers t ON t.value = n.given;
