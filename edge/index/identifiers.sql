-- name: resolved
-- The active items that identifiers lead to, for each as many as an answer may list and one more. A merged item leads to its
-- survivor, a withdrawn one to nothing; a source's own id serves as its SKU. The bound inside keeps a text that a million
-- items share from being sorted. The planner cannot count the texts in their subqueries: one plan serves any number.
SELECT a.n, ARRAY(
    SELECT DISTINCT i.iid FROM (
        (SELECT t.item_id FROM item_identifiers t
         WHERE t.scheme = a.scheme AND t.value = a.value AND (a.brand = '' OR t.brand = a.brand)
           AND (a.source = '' OR t.source_id = (SELECT s.id FROM sources s WHERE s.name = a.source))
         LIMIT 1000)
        UNION
        SELECT o.item_id FROM item_sources o JOIN sources s ON s.id = o.source_id
        WHERE a.scheme = 'sku' AND s.name = a.source AND o.source_item_id = a.value) hit
    LEFT JOIN inactive_items x USING (item_id)
    JOIN items i ON i.id = CASE WHEN x.item_id IS NULL THEN hit.item_id ELSE x.owner_id END
    ORDER BY i.iid LIMIT 101) AS iids
FROM unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]), (SELECT $4::text[])) WITH ORDINALITY AS a (scheme, value, brand, source, n);

-- name: ever_held
-- The items of which a source states GTINs, or did, with the active items that answer for them; for each number as many as an
-- answer may list and one more. $1: numbers; $2: of which source alone; empty for any.
SELECT a.n, h.item_id, i.iid, h.source_ids
FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) WITH ORDINALITY AS a (value, source, n), LATERAL (
    SELECT t.item_id, array_agg(t.source_id) AS source_ids FROM (
        (SELECT c.item_id, c.source_id FROM item_identifiers c
         WHERE c.scheme = 'gtin' AND c.value = a.value
           AND (a.source = '' OR c.source_id = (SELECT s.id FROM sources s WHERE s.name = a.source)) LIMIT 1000)
        UNION
        (SELECT f.item_id, f.source_id FROM former_identifiers f
         WHERE f.scheme = 'gtin' AND f.value = a.value
           AND (a.source = '' OR f.source_id = (SELECT s.id FROM sources s WHERE s.name = a.source)) LIMIT 1000)) t
    GROUP BY t.item_id ORDER BY t.item_id LIMIT 101) h
LEFT JOIN inactive_items x USING (item_id)
JOIN items i ON i.id = CASE WHEN x.item_id IS NULL THEN h.item_id ELSE x.owner_id END;
