-- name: current
-- To see whether the load says anything new.
SELECT code, indicator, per_kg, samples, method FROM impact_factors WHERE source_id = $1 AND scope = $2;

-- name: clear
-- A source's factors are replaced whole: they belong together.
DELETE FROM impact_factors WHERE source_id = $1 AND scope = $2;

-- name: insert
-- Where two sources give a factor for one code, the later load stands.
INSERT INTO impact_factors (scope, code, indicator, per_kg, samples, method, source_id)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (scope, code, indicator) DO UPDATE SET per_kg = excluded.per_kg, samples = excluded.samples,
    method = excluded.method, source_id = excluded.source_id;

-- name: touch_items
-- Items below these categories, or of these types, show another estimate: their records have a new version.
UPDATE items i SET version = version + 1, updated_at = statement_timestamp(), data_version = $1
WHERE ($2 = 'product_type' AND i.product_type = ANY($3::text[]))
   OR ($2 = 'category' AND i.category_id IN (
        SELECT c.id FROM categories c, unnest($3::text[]) AS f WHERE c.code = f OR starts_with(c.code, f || '.')));
