-- name: listings
-- One statement, so that version, last day and prices are of one snapshot. $2: the day asked about; without it, the last
-- one on which a channel was observed. Observations more than $5 days back are not read. They are read in one pass, since
-- each pass opens every month's partition; without $2 that pass finds the last day too, misdated ones apart.
-- $6: outliers count too; without them a day on which only an outlier was seen counts as not observed.
WITH item AS MATERIALIZED (
    SELECT i.id, i.status, i.survivor_iid, ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS ids
    FROM items i WHERE i.iid = $1),
seen AS MATERIALIZED (
    SELECT o.day, h.code, o.kind, o.currency, o.price_minor, o.list_minor
    FROM observations o JOIN channels h ON h.id = o.channel_id
    WHERE o.item_id = ANY((SELECT ids FROM item)::bigint[]) AND (cardinality($3::text[]) = 0 OR h.code = ANY($3))
      AND ($4::text IS NULL OR o.currency = $4) AND o.kind = 'l' AND ($6::boolean OR o.outlier IS NULL)
      AND o.day BETWEEN coalesce($2::date - $5::integer, '-infinity') AND coalesce($2::date, 'infinity')),
last AS MATERIALIZED (SELECT coalesce($2::date, (SELECT window_end(array_agg(day)) FROM seen)) AS day)
SELECT i.status, i.survivor_iid, last.day AS last_day, (SELECT coalesce(max(version), 0) FROM data_versions) AS version,
       ARRAY(SELECT unnest($3::text[]) EXCEPT SELECT code FROM channels) AS unknown_channels,
       (SELECT json_agg(json_build_array(day, code, kind, currency, price_minor, list_minor)
                        ORDER BY code, currency, day, price_minor DESC)
        FROM seen WHERE day BETWEEN last.day - $5::integer AND last.day) AS prices
FROM item i CROSS JOIN last;
