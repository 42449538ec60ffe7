-- name: page
-- From the cells of the reports, where each channel's observations are counted by month: no observation is read. `days`
-- packs 31 counts of one width, after a byte for the number of columns and one for that width (workers/analytics/rollups/codec.py).
SELECT h.code, seen.observations, (
    SELECT max(m.month + d) FROM month_cells m, generate_series(0, 30) AS d
    WHERE m.scope = 'h' AND m.id = h.id AND m.month = seen.last_month
      AND substring(m.days FROM 3 + d * get_byte(m.days, 1) FOR get_byte(m.days, 1))
          <> decode(repeat('00', get_byte(m.days, 1)), 'hex')) AS last_seen_on
FROM channels h
CROSS JOIN LATERAL (
    SELECT sum(n)::bigint AS observations, max(month) AS last_month FROM month_cells WHERE scope = 'h' AND id = h.id) seen
WHERE seen.observations > 0 AND ($1::text IS NULL OR starts_with(lower(h.code), lower($1)))
  AND ($2::text IS NULL OR h.code COLLATE "C" > $2)
ORDER BY h.code COLLATE "C" LIMIT $3;

-- name: total
-- Counted apart, so that the page itself can stop at its last row.
SELECT count(*) AS total FROM channels h
WHERE EXISTS (SELECT FROM month_cells WHERE scope = 'h' AND id = h.id)
  AND ($1::text IS NULL OR starts_with(lower(h.code), lower($1)));
