-- name: records
-- Everything that these IIDs' records show, in one round trip. It runs only on a miss, so it reads each item's own
-- observations by their index instead of keeping a table of figures up to date for every item at every load; once for all items,
-- because each pass opens every month's partition: a pass for each of 1,000 items takes seconds where there are years of months.
-- The IIDs are in a subquery so that the planner cannot count them: one plan then serves any number, where planning anew took
-- several times as long as the execution.
WITH own_and_merged AS MATERIALIZED (
    SELECT i.id, ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS ids
    FROM items i WHERE i.iid = ANY((SELECT $1::text[])::text[])),
observed AS MATERIALIZED (
    SELECT o.item_id, array_agg(o) AS observations FROM observations o
    WHERE o.item_id = ANY((SELECT array_agg(item_id) FROM own_and_merged, unnest(ids) AS item_id)::bigint[]) GROUP BY o.item_id)
SELECT i.iid, i.name, i.alt_names, i.status, i.survivor_iid, i.product_type, i.identifiers, i.attributes, i.version,
       i.first_seen_on, i.updated_at, b.id AS brand_id, b.name AS brand_name, b.slug AS brand_slug,
       c.code AS category_code, c.path AS category_path, seen.channels, seen.price_band, own.impacts, factor.factors,
       origin.sources, i.field_sources, own_items.members, found.matches
FROM own_and_merged JOIN items i USING (id)
LEFT JOIN brands b ON b.id = i.brand_id
LEFT JOIN categories c ON c.id = i.category_id
LEFT JOIN LATERAL (
    WITH own AS MATERIALIZED (
        SELECT channel_id, day, currency, kind, price_minor, outlier
        FROM observed o, unnest(o.observations) WHERE o.item_id = ANY(own_and_merged.ids)),
    last AS MATERIALIZED (SELECT window_end(array_agg(day)) AS day FROM own)
    SELECT (
        SELECT json_agg(json_build_object('channel', h.code, 'listings', g.listings, 'sales', g.sales, 'last_seen_on', g.last_seen_on)
                        ORDER BY h.code)
        FROM (SELECT channel_id, count(*) FILTER (WHERE kind = 'l') AS listings, count(*) FILTER (WHERE kind = 's') AS sales,
                     max(day) AS last_seen_on FROM own GROUP BY channel_id) g
        JOIN channels h ON h.id = g.channel_id) AS channels, (
        SELECT json_build_object('currency', o.currency, 'kind', o.kind, 'low', min(o.price_minor) FILTER (WHERE o.outlier IS NULL),
            'high', max(o.price_minor) FILTER (WHERE o.outlier IS NULL),
            'median', (percentile_cont(0.5) WITHIN GROUP (ORDER BY o.price_minor) FILTER (WHERE o.outlier IS NULL))::numeric,
            'observations', count(*) FILTER (WHERE o.outlier IS NULL), 'set_aside', count(o.outlier), 'from', l.day - 29, 'to', l.day)
        FROM own o JOIN last l ON o.day BETWEEN l.day - 29 AND l.day
        GROUP BY o.currency, o.kind, l.day HAVING count(*) > count(o.outlier)
        ORDER BY o.kind = 'l' DESC, count(*) FILTER (WHERE o.outlier IS NULL) DESC, o.currency LIMIT 1) AS price_band
) seen ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('indicator', p.indicator, 'per_unit', p.per_unit, 'basis', p.basis, 'method', p.method,
        'pedigree', p.pedigree, 'reference_year', p.reference_year)) AS impacts
    FROM impacts p WHERE p.item_id = i.id
) own ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('scope', f.scope, 'code', f.code, 'indicator', f.indicator, 'per_kg', f.per_kg,
        'samples', f.samples, 'method', f.method, 'reference_year', f.reference_year)
                    ORDER BY f.scope DESC, length(f.code) DESC) AS factors
    FROM impact_factors f
    WHERE f.basis = coalesce(i.attributes ->> 'weight_basis', 'as_sold') AND (f.scope = 'product_type' AND f.code = i.product_type
       OR f.scope = 'category' AND (c.code = f.code OR starts_with(c.code, f.code || '.')))
) factor ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('source', s.name, 'observed_at', t.observed_at AT TIME ZONE 'UTC', 'license', s.license) ORDER BY s.name) AS sources
    FROM (SELECT source_id, max(observed_at) AS observed_at FROM item_sources
          WHERE item_id = ANY(own_and_merged.ids) GROUP BY source_id) t JOIN sources s ON s.id = t.source_id
) origin ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('iid', m.iid, 'source', s.name, 'id', t.source_item_id, 'name', said.name,
        'identifiers', said.identifiers) ORDER BY m.id <> i.id, s.name, t.source_item_id) AS members
    FROM item_sources t JOIN items m ON m.id = t.item_id JOIN sources s ON s.id = t.source_id
    CROSS JOIN LATERAL (
        SELECT k.name, k.identifiers FROM item_claims c JOIN item_contents k USING (item_id, content_hash)
        WHERE c.item_id = t.item_id AND c.source_id = t.source_id ORDER BY c.as_of DESC, c.no DESC LIMIT 1) said
    WHERE t.item_id = ANY(own_and_merged.ids)
) own_items ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('iids', json_build_array(a.iid, b.iid), 'kind', p.kind, 'score', p.score,
        'evidence', p.evidence, 'since', p.since AT TIME ZONE 'UTC') ORDER BY a.iid, b.iid, p.kind) AS matches
    FROM (
        SELECT l.left_id, l.right_id, l.kind, l.score, l.evidence, (
            SELECT e.at FROM events e WHERE e.no = greatest(
                (SELECT min(c.no) FROM item_claims c WHERE c.item_id = l.left_id),
                (SELECT min(c.no) FROM item_claims c WHERE c.item_id = l.right_id))) AS since
        FROM links l
        WHERE l.left_id = ANY(own_and_merged.ids) AND l.right_id = ANY(own_and_merged.ids) AND l.decision = 'link'
        UNION ALL
        SELECT e.item_id, e.survivor_id, CASE e.kind WHEN 'link' THEN 'review' ELSE e.kind END, NULL, '[]', e.at FROM events e
        WHERE e.item_id = ANY(own_and_merged.ids) AND e.survivor_id = ANY(own_and_merged.ids)
          AND e.kind IN ('merge', 'link') AND e.undone_at IS NULL) p
    JOIN items a ON a.id = p.left_id JOIN items b ON b.id = p.right_id
    WHERE cardinality(own_and_merged.ids) > 1
) found ON true;
