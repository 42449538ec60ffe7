-- name: prices
-- One statement, so that version, last day and prices are of one snapshot. The window reaches back $7 days from the last
-- day, or further where more was asked for: statistics need a year and reductions $7 days even where a week is shown. The
-- observations are read in one pass, since each pass opens every month's partition; without $3 it finds the last day too:
-- `window_end` passes over misdated ones, unless $2 asks for days after them.
WITH item AS MATERIALIZED (
    SELECT i.id, i.status, i.survivor_iid, i.name, i.attributes, ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS ids
    FROM items i WHERE i.iid = $1),
seen AS MATERIALIZED (
    SELECT o.day, h.code, o.kind, o.currency, o.price_minor, o.list_minor, o.outlier
    FROM observations o JOIN channels h ON h.id = o.channel_id
    WHERE o.item_id = ANY((SELECT ids FROM item)::bigint[]) AND (cardinality($4::text[]) = 0 OR h.code = ANY($4))
      AND ($5::text IS NULL OR o.currency = $5) AND ($6::text IS NULL OR o.kind = $6::text::"char")
      AND o.day BETWEEN CASE WHEN $3::date IS NULL THEN '-infinity' ELSE least(coalesce($2::date, $3::date - 89), $3::date - $7::integer) END
                    AND coalesce($3::date, 'infinity')),
last AS MATERIALIZED (
    SELECT coalesce($3::date, CASE WHEN $2::date > s.settled THEN s.newest ELSE s.settled END) AS day
    FROM (SELECT window_end(array_agg(day)) AS settled, max(day) AS newest FROM seen) s)
SELECT i.status, i.survivor_iid, i.name, i.attributes, last.day AS last_day, (SELECT coalesce(max(version), 0) FROM data_versions) AS version,
       ARRAY(SELECT unnest($4::text[]) EXCEPT SELECT code FROM channels) AS unknown_channels,
       (SELECT json_agg(json_build_array(day, code, kind, currency, price_minor, list_minor, outlier)
                        ORDER BY day, code, kind, currency, price_minor, list_minor)
        FROM seen WHERE day BETWEEN least(coalesce($2::date, last.day - 89), last.day - $7::integer) AND last.day) AS prices
FROM item i CROSS JOIN last;
