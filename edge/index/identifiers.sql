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
