-- name: records
-- The sources' statements about items, the newest of each source first; each content once, however many loads repeat it.
SELECT d.item_id, s.id, s.name, k.name, coalesce(k.brand_name, ''), coalesce(k.category_path, '{}'), k.identifiers,
       k.attributes, s.matching
FROM (SELECT DISTINCT ON (c.item_id, c.source_id, c.content_hash) c.item_id, c.source_id, c.content_hash, c.as_of, c.no
      FROM item_claims c WHERE c.item_id = ANY($1::bigint[])
      ORDER BY c.item_id, c.source_id, c.content_hash, c.as_of DESC, c.no DESC) d
JOIN item_contents k USING (item_id, content_hash) JOIN sources s ON s.id = d.source_id
ORDER BY d.item_id, s.name, d.as_of DESC, d.no DESC;

-- name: members
-- The columns that decide which item of an article is the oldest; an item without claims was there before claims were kept.
SELECT i.id, coalesce(own.source, ''), coalesce(own.first_day, i.first_seen_on),
       coalesce((own.matching ->> 'never')::boolean, false), coalesce(d.article, ''),
       (own.matching ->> 'one_per_source')::boolean
FROM items i LEFT JOIN declared_articles d ON d.item_id = i.id LEFT JOIN LATERAL (
    SELECT s.name AS source, s.matching, min(t.first_day) OVER () AS first_day
    FROM item_sources t JOIN sources s ON s.id = t.source_id JOIN item_contents k USING (item_id, content_hash)
    WHERE t.item_id = i.id ORDER BY k.name IS NULL, s.name LIMIT 1) own ON true
WHERE i.id = ANY($1::bigint[]);

-- name: of_source
-- All items of a source whose rules of matching have changed.
SELECT item_id FROM item_sources WHERE source_id = $1;

-- name: needed
-- Whether there can be anything to link: items of other sources than $1, or a source whose own items may be one.
SELECT count(*) FILTER (WHERE s.id IS DISTINCT FROM $1) > CASE WHEN $1::smallint IS NULL THEN 1 ELSE 0 END
    OR coalesce(bool_or(s.matching ? 'article_identifier' OR s.matching ->> 'one_per_source' = 'false'), false)
FROM sources s WHERE s.id = $1 OR EXISTS (SELECT FROM item_sources t WHERE t.source_id = s.id);

-- name: everything
-- For an index that is made anew.
SELECT id FROM items;

-- name: newer
-- Items whose rows were made after a data_version; their former rows are in the index.
SELECT id FROM items WHERE data_version > $1;

-- name: removed
-- Items that no event brings any more.
SELECT item_id FROM removed_items WHERE data_version > $1;

-- name: stamp
-- The data_version that an index is of, with its moment, so that the index of another database is not taken for ours.
SELECT version, committed_at::text FROM data_versions ORDER BY version DESC LIMIT 1;

-- name: moment
-- Of a former data_version.
SELECT committed_at::text FROM data_versions WHERE version = $1;
