-- name: figures
-- One statement: the units sold, the item's own figures, and all factors that could stand in, the nearest first.
WITH item AS (
    SELECT i.id, ARRAY[i.id] || ARRAY(SELECT x.item_id FROM inactive_items x WHERE x.owner_id = i.id) AS ids,
           i.status, i.survivor_iid, i.product_type, c.code AS category, i.attributes ->> 'weight_kg' AS weight,
           i.attributes ->> 'volume_l' AS volume, i.attributes ->> 'density_kg_per_l' AS density,
           coalesce(i.attributes ->> 'weight_basis', 'as_sold') AS basis
    FROM items i LEFT JOIN categories c ON c.id = i.category_id WHERE i.iid = $1),
seen AS (
    SELECT o.day, sum(o.units) FILTER (WHERE o.kind = 's') AS units FROM observations o JOIN channels h ON h.id = o.channel_id
    WHERE o.item_id = ANY((SELECT ids FROM item)::bigint[]) AND (cardinality($4::text[]) = 0 OR h.code = ANY($4)) GROUP BY o.day),
pooled AS (
    -- One food group may stand for several categories: its samples count once.
    SELECT scope, indicator, sum((log_samples - 1) * log_deviation ^ 2) AS squares, sum(log_samples - 1) AS degrees
    FROM (SELECT DISTINCT scope, indicator, per_kg, log_samples, log_deviation FROM impact_factors WHERE log_samples > 1) one
    GROUP BY scope, indicator),
span AS (
    SELECT coalesce($3::date, CASE WHEN $2::date > s.settled THEN s.newest ELSE s.settled END) AS last_day
    FROM (SELECT window_end(array_agg(day)) AS settled, max(day) AS newest FROM seen) s)
SELECT i.status, i.survivor_iid, i.weight, i.volume, i.density, span.last_day, (SELECT coalesce(max(version), 0) FROM data_versions) AS version,
       ARRAY(SELECT unnest($4::text[]) EXCEPT SELECT code FROM channels) AS unknown_channels, total.units, total.days, total.first,
       total.last, own.impacts, own.stages, factor.factors
FROM item i CROSS JOIN span
LEFT JOIN LATERAL (
    SELECT sum(units)::bigint AS units, count(*) AS days, min(day) AS first, max(day) AS last FROM seen
    WHERE day BETWEEN coalesce($2::date, span.last_day - 89) AND span.last_day) total ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('indicator', p.indicator, 'per_unit', p.per_unit, 'basis', p.basis, 'method', p.method,
        'as_of', p.as_of, 'low', p.low, 'high', p.high, 'deviation', p.deviation,
        'pedigree', p.pedigree, 'reference_year', p.reference_year,
        'source', json_build_object('source', s.name, 'license', s.license))) AS impacts,
        (SELECT json_agg(json_build_object('indicator', t.indicator, 'stage', t.stage, 'per_unit', t.per_unit,
            'basis', t.basis, 'method', t.method) ORDER BY t.stage COLLATE "C")
         FROM impact_stages t WHERE t.item_id = i.id) AS stages
    FROM impacts p JOIN sources s ON s.id = p.source_id WHERE p.item_id = i.id) own ON true
LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('scope', f.scope, 'code', f.code, 'indicator', f.indicator, 'per_kg', f.per_kg, 'weight_basis', f.basis,
        'samples', f.samples, 'log_samples', f.log_samples, 'log_deviation', f.log_deviation,
        'squares', pooled.squares, 'degrees', pooled.degrees, 'method', f.method, 'reference_year', f.reference_year, 'source', json_build_object('source', s.name, 'license', s.license))
        ORDER BY f.scope DESC, length(f.code) DESC) AS factors
    FROM impact_factors f JOIN sources s ON s.id = f.source_id LEFT JOIN pooled USING (scope, indicator)
    WHERE f.basis = i.basis AND (f.scope = 'product_type' AND f.code = i.product_type
       OR f.scope = 'category' AND (i.category = f.code OR starts_with(i.category, f.code || '.')))) factor ON true;
