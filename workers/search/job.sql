-- name: documents
-- Of the items whose rows were made after a data_version (-1: of all), in the order of IIDs, as the index wants them; read by a
-- server-side cursor, so memory stays flat. With the identifiers by which an item is found: its own, and those of the items
-- that are part of it.
SELECT i.id, i.iid, i.name, i.alt_names, b.id, b.name, b.slug, i.product_type, c.code, c.path, i.attributes ->> 'description', i.attributes,
       t.schemes, t.values
FROM items i
LEFT JOIN brands b ON b.id = i.brand_id
LEFT JOIN categories c ON c.id = i.category_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(scheme), '{}') AS schemes, coalesce(array_agg(value), '{}') AS values
    FROM (SELECT DISTINCT scheme, value FROM item_identifiers
          WHERE item_id = ANY(ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id))) own) t
WHERE i.status = 'active' AND i.data_version > $1 ORDER BY i.iid;

-- name: market
-- What was observed of these items, and of those that are part of them; the price is the median of the record's price band. In one
-- statement for many items, because each pass opens every month's partition.
WITH members AS MATERIALIZED (
    SELECT i.id AS owner_id, unnest(ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id)) AS item_id
    FROM unnest($1::bigint[]) AS i (id)),
own AS MATERIALIZED (
    SELECT m.owner_id, o.channel_id, o.day, o.currency, o.kind, o.price_minor, o.outlier
    FROM observations o JOIN members m USING (item_id)
    WHERE o.item_id = ANY((SELECT array_agg(item_id) FROM members)::bigint[])),
last AS MATERIALIZED (SELECT owner_id, window_end(array_agg(day)) AS day FROM own GROUP BY owner_id),
band AS (
    SELECT DISTINCT ON (o.owner_id) o.owner_id, o.currency,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY o.price_minor) FILTER (WHERE o.outlier IS NULL) AS median
    FROM own o JOIN last l ON l.owner_id = o.owner_id AND o.day BETWEEN l.day - 29 AND l.day
    GROUP BY o.owner_id, o.currency, o.kind HAVING count(*) > count(o.outlier)
    ORDER BY o.owner_id, o.kind = 'l' DESC, count(*) FILTER (WHERE o.outlier IS NULL) DESC, o.currency)
SELECT o.owner_id, count(*), array_agg(DISTINCT h.code), max(o.day) - date '1970-01-01', b.currency, b.median
FROM own o JOIN channels h ON h.id = o.channel_id LEFT JOIN band b ON b.owner_id = o.owner_id
GROUP BY o.owner_id, b.currency, b.median;

-- name: changed
-- All items that are no longer as they were at a data_version, or are no longer there.
SELECT iid FROM items WHERE data_version > $1
UNION SELECT iid FROM removed_items WHERE data_version > $1 ORDER BY iid;

-- name: changed_count
-- How many these are, before they are read into memory.
SELECT (SELECT count(*) FROM items WHERE data_version > $1) + (SELECT count(*) FROM removed_items WHERE data_version > $1);

-- name: count
-- For the progress bar, and to see that an updated index has every item.
SELECT count(*) FROM items WHERE status = 'active';

-- name: lock
-- One worker at a time brings an index to the object store: each continues from the stored state.
SELECT pg_advisory_lock(hashtextextended('search index', 0));

-- name: newest
-- The snapshot's own data_version, whatever the job was made for: the index says what it holds. With its moment, so that
-- the index of another database is not continued.
SELECT version, committed_at::text FROM data_versions ORDER BY version DESC LIMIT 1;

-- name: identifiers
-- By which rules the identifiers of all claims are derived; no row where a load has not derived those of its own.
SELECT d.layout FROM identifiers_derived d WHERE NOT EXISTS (SELECT FROM events e WHERE e.no > d.event_no AND e.kind = 'load');

-- name: moment
-- Of a former data_version.
SELECT committed_at::text FROM data_versions WHERE version = $1;
