-- name: current
-- To see which codes a load or its undoing changes.
SELECT code, indicator, per_kg, samples, method, basis, reference_year, log_samples, log_deviation, source_id FROM impact_factors WHERE scope = $1;

-- name: claim
-- Kept beside those of former loads: when this one is undone, theirs hold again.
INSERT INTO factor_claims (no, scope, code, indicator, per_kg, samples, method, basis, reference_year, log_samples, log_deviation, source_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: clear
-- Made anew as a whole from the claims.
DELETE FROM impact_factors WHERE scope = $1;

-- name: settle
-- A source's factors are replaced whole: they belong together. Where two sources give one for a code, the later load counts.
INSERT INTO impact_factors (scope, code, indicator, per_kg, samples, method, basis, reference_year, log_samples, log_deviation, source_id)
SELECT DISTINCT ON (code, indicator, basis) scope, code, indicator, per_kg, samples, method, basis, reference_year, log_samples, log_deviation, source_id
FROM factor_claims c
WHERE scope = $1 AND no = (SELECT max(n.no) FROM factor_claims n WHERE n.source_id = c.source_id AND n.scope = c.scope)
ORDER BY code, indicator, basis, no DESC;

-- name: touch_items
-- Items below these categories, or of these types, show another estimate: their records have a new version.
WITH touched AS (
    UPDATE items i SET version = version + 1, updated_at = $5, data_version = $1
    WHERE ($2 = 'product_type' AND i.product_type = ANY($3::text[]))
       OR ($2 = 'category' AND i.category_id IN (
            SELECT c.id FROM categories c, unnest($3::text[]) AS f WHERE c.code = f OR starts_with(c.code, f || '.')))
    RETURNING id)
INSERT INTO item_changes (item_id, no, at) SELECT id, $4, $5 FROM touched;
