-- name: prices
-- One statement, so that version, last day and prices are of one snapshot. The window reaches back a year from the last
-- day, or further where more was asked for: statistics need the year even where a week is shown.
WITH item AS (
    SELECT i.id, i.status, i.survivor_iid, i.name, i.attributes, ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS ids
    FROM items i WHERE i.iid = $1),
last AS (
    SELECT coalesce($3::date, (
        SELECT max(o.day) FROM observations o JOIN channels h ON h.id = o.channel_id
        WHERE o.item_id = ANY((SELECT ids FROM item)::bigint[]) AND (cardinality($4::text[]) = 0 OR h.code = ANY($4))
          AND ($5::text IS NULL OR o.currency = $5) AND ($6::text IS NULL OR o.kind = $6::text::"char"))) AS day)
SELECT i.status, i.survivor_iid, i.name, i.attributes, last.day AS last_day, (SELECT coalesce(max(version), 0) FROM data_versions) AS version,
       ARRAY(SELECT unnest($4::text[]) EXCEPT SELECT code FROM channels) AS unknown_channels,
       (SELECT json_agg(json_build_array(o.day, h.code, o.kind, o.currency, o.price_minor, o.list_minor, o.outlier)
                        ORDER BY o.day, h.code, o.kind, o.currency, o.price_minor, o.list_minor)
        FROM observations o JOIN channels h ON h.id = o.channel_id
        WHERE o.item_id = ANY(i.ids) AND o.day BETWEEN least(coalesce($2::date, last.day - 89), last.day - 364) AND last.day
          AND (cardinality($4::text[]) = 0 OR h.code = ANY($4)) AND ($5::text IS NULL OR o.currency = $5)
          AND ($6::text IS NULL OR o.kind = $6::text::"char")) AS prices
FROM item i CROSS JOIN last;
