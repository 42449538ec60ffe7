-- name: any_active
-- Most loads of most installations end here.
SELECT EXISTS (SELECT FROM watches WHERE paused_at IS NULL);

-- name: groups
-- The brands and categories whose articles are watched; of a category also those below it.
CREATE TEMP TABLE watch_groups ON COMMIT DROP AS
WITH active AS (
    SELECT DISTINCT target, code FROM watches WHERE paused_at IS NULL AND condition <> 'index-moved' AND target <> 'article')
SELECT a.*, b.id FROM active a JOIN brands b ON b.slug = a.code WHERE a.target = 'brand'
UNION ALL
SELECT a.*, c.id FROM active a JOIN categories c ON c.code = a.code OR starts_with(c.code, a.code || '.') WHERE a.target = 'category';

-- name: analyze_groups
-- The planner knows nothing of temporary tables.
ANALYZE watch_groups;

-- name: watched
-- The items, brands and categories that are watched, each with the days of an absence that is waited for; 0: with a price.
SELECT 'a'::"char", item_id, CASE WHEN condition = 'returned' THEN days ELSE 0 END FROM watches
WHERE paused_at IS NULL AND item_id IS NOT NULL
UNION ALL
SELECT DISTINCT left(g.target, 1)::"char", g.id::bigint, CASE WHEN w.condition = 'returned' THEN w.days ELSE 0 END
FROM watch_groups g JOIN watches w USING (target, code) WHERE w.paused_at IS NULL AND w.condition <> 'index-moved';

-- name: latest
-- The newest day of each watched article in the months that the load touched, with its lowest price; of that day's month the
-- lowest price before it (-1: none) and the first day.
CREATE TEMP TABLE watch_latest (
    owner_id bigint, kind "char", currency character(3), day date, low bigint, low_before bigint, first_day date
) ON COMMIT DROP;

-- name: analyze_latest
-- For the same reason. Only what is joined by.
ANALYZE watch_latest (owner_id, kind, currency);

-- name: risen
-- The watches whose price has risen to the amount and $1 of it more, as far as the touched months tell.
CREATE TEMP TABLE watch_risen ON COMMIT DROP AS
SELECT s.watch_id, s.item_id, l.kind, l.currency, l.day FROM watch_states s JOIN watches w ON w.id = s.watch_id
JOIN watch_latest l ON l.owner_id = s.item_id AND l.kind = w.kind AND l.currency = w.currency
WHERE w.condition = 'below' AND NOT s.armed AND l.low >= w.amount_minor * (1 + $1::numeric);

-- name: later_months
-- The months with observations behind the oldest one that a price has risen in.
SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS month FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'observations'::regclass AND to_date(right(c.relname, 7), 'YYYY_MM') > (SELECT min(day) FROM watch_risen)
ORDER BY month DESC;

-- name: not_newest
-- An older day that is filled in arms nothing: month $1 knows a later one.
DELETE FROM watch_risen r USING (
    SELECT item_id AS owner_id, item_id FROM watch_risen
    UNION SELECT x.owner_id, x.item_id FROM watch_risen n JOIN inactive_items x ON x.owner_id = n.item_id) m, {table} o
WHERE r.day < $1 AND r.item_id = m.owner_id AND o.item_id = m.item_id AND o.kind = r.kind AND o.currency = r.currency
  AND o.outlier IS NULL;

-- name: rearm
-- Now the price can fall below the amount again.
UPDATE watch_states s SET armed = true FROM watch_risen r WHERE s.watch_id = r.watch_id AND s.item_id = r.item_id;

-- name: days
-- The days of the touched months before which articles whose return is waited for were absent for as long as a watch of theirs
-- waits: for so many days; 0: no day before is known.
CREATE TEMP TABLE watch_days (owner_id bigint, kind "char", day date, absence integer) ON COMMIT DROP;

-- name: analyze_days
-- For the same reason.
ANALYZE watch_days (owner_id, kind);

-- name: candidates
-- Candidates of the days of the load. Whether they report depends on other months too, which are read once for all of them:
-- a query of its own for each of 100,000 watches takes minutes. `since`: the first day of the span before; `known`: the
-- article was observed by then, as far as that is asked.
CREATE TEMP TABLE watch_candidates (
    n bigint GENERATED ALWAYS AS IDENTITY, watch_id uuid, owner_id bigint, condition text, kind "char", currency character(3),
    day date, low bigint, low_before bigint, since date, known boolean
) ON COMMIT DROP;

-- name: priced
-- The last report is not repeated, also when its load was undone and done once more. A span of a low has 30 days
-- or more, so the rest of the month is part of it: a price above the month's lowest is no new low. $1: see HYSTERESIS.
INSERT INTO watch_candidates (watch_id, owner_id, condition, kind, currency, day, low, low_before, since, known)
WITH matched AS (
    SELECT w.id, w.condition, w.amount_minor, w.days, l.*
    FROM watches w LEFT JOIN inactive_items x ON x.item_id = w.item_id
    JOIN watch_latest l ON l.owner_id = coalesce(x.owner_id, w.item_id) AND l.kind = w.kind AND l.currency = w.currency
    WHERE w.paused_at IS NULL
    UNION ALL
    SELECT w.id, w.condition, w.amount_minor, w.days, l.*
    FROM watch_groups g JOIN items i ON i.brand_id = g.id JOIN watch_latest l ON l.owner_id = i.id
    JOIN watches w ON w.target = g.target AND w.code = g.code AND w.kind = l.kind AND w.currency = l.currency
    WHERE g.target = 'brand' AND w.paused_at IS NULL AND w.condition <> 'index-moved'
    UNION ALL
    SELECT w.id, w.condition, w.amount_minor, w.days, l.*
    FROM watch_groups g JOIN items i ON i.category_id = g.id JOIN watch_latest l ON l.owner_id = i.id
    JOIN watches w ON w.target = g.target AND w.code = g.code AND w.kind = l.kind AND w.currency = l.currency
    WHERE g.target = 'category' AND w.paused_at IS NULL AND w.condition <> 'index-moved')
SELECT m.id, m.owner_id, m.condition, m.kind, m.currency, m.day, m.low, nullif(m.low_before, -1), m.day - coalesce(m.days, 0),
       m.condition = 'below' OR m.first_day <= m.day - m.days
FROM matched m LEFT JOIN watch_states s ON s.watch_id = m.id AND s.item_id = m.owner_id
WHERE (s.watch_id IS NULL OR (s.day, s.amount_minor) IS DISTINCT FROM (m.day, m.low))
  AND CASE m.condition
      WHEN 'below' THEN m.low < m.amount_minor AND coalesce(s.armed, true)
      WHEN 'new-low' THEN (m.low_before = -1 OR m.low < m.low_before)
          AND (s.watch_id IS NULL OR m.day - s.day > m.days OR m.low <= s.amount_minor * (1 - $1::numeric)) END;

-- name: returned
-- The last day of this load before which the touched months have nothing for the watch's days. If that one is no return
-- because another month has a day in between, then no day before it is one: an earlier load knows a later day. $1: months that
-- had no observations before; in another the load may have found the day as it was.
INSERT INTO watch_candidates (watch_id, owner_id, condition, kind, day, since, known)
WITH begun AS (
    SELECT * FROM watch_days WHERE date_trunc('month', day)::date = ANY ($1::date[])
    UNION ALL
    SELECT * FROM watch_days d WHERE date_trunc('month', day)::date <> ALL ($1::date[]) AND EXISTS (
        SELECT FROM changed_observations p LEFT JOIN inactive_items x USING (item_id)
        WHERE coalesce(x.owner_id, p.item_id) = d.owner_id AND p.day = d.day)),
matched AS (
    SELECT w.id, w.days, b.*
    FROM watches w LEFT JOIN inactive_items x ON x.item_id = w.item_id
    JOIN begun b ON b.owner_id = coalesce(x.owner_id, w.item_id) AND b.kind = w.kind
    WHERE w.paused_at IS NULL AND w.condition = 'returned'
    UNION ALL
    SELECT w.id, w.days, b.*
    FROM watch_groups g JOIN items i ON i.brand_id = g.id JOIN begun b ON b.owner_id = i.id
    JOIN watches w ON w.target = g.target AND w.code = g.code AND w.kind = b.kind
    WHERE g.target = 'brand' AND w.paused_at IS NULL AND w.condition = 'returned'
    UNION ALL
    SELECT w.id, w.days, b.*
    FROM watch_groups g JOIN items i ON i.category_id = g.id JOIN begun b ON b.owner_id = i.id
    JOIN watches w ON w.target = g.target AND w.code = g.code AND w.kind = b.kind
    WHERE g.target = 'category' AND w.paused_at IS NULL AND w.condition = 'returned')
SELECT m.id, m.owner_id, 'returned', m.kind, max(m.day), max(m.day) - m.days, bool_or(m.absence > 0)
FROM matched m LEFT JOIN watch_states s ON s.watch_id = m.id AND s.item_id = m.owner_id
WHERE (m.absence = 0 OR m.absence > m.days) AND (s.watch_id IS NULL OR s.day < m.day)
GROUP BY m.id, m.owner_id, m.kind, m.days;

-- name: members
-- The items whose observations are a candidate's, its article and those that are part of it, with what is asked of them.
CREATE TEMP TABLE watch_members ON COMMIT DROP AS
SELECT n, owner_id AS item_id, kind, currency, day, since FROM watch_candidates
UNION ALL SELECT c.n, x.item_id, c.kind, c.currency, c.day, c.since FROM watch_candidates c JOIN inactive_items x USING (owner_id);

-- name: analyze_members
-- For the same reason.
ANALYZE watch_members (n, item_id, kind, currency);

-- name: months
-- The months that have observations, the newest first, and whether a span of a candidate reaches into them; without candidates
-- there is no row. $1: months that have nothing but the load's observations. Of those the candidates have the values of their
-- own month, and the gaps are known: another one can only have a lower price.
SELECT m.month, m.month >= f.month AS reached
FROM (SELECT date_trunc('month', min(since))::date AS month FROM watch_candidates) f, (
    SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS month FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'observations'::regclass) m
WHERE f.month IS NOT NULL AND (m.month < f.month OR m.month <> ALL ($1::date[]) OR EXISTS (
    SELECT FROM watch_candidates c WHERE c.condition = 'new-low' AND c.day >= m.month + interval '1 month'))
ORDER BY m.month DESC;

-- name: month_rows
-- What candidates ask of a month.
SELECT item_id, kind, currency, day, price_minor, outlier, load_no FROM {table}

-- name: no_rows
-- Where they ask no month.
SELECT item_id, kind, currency, day, price_minor, outlier, load_no FROM observations WHERE false

-- name: confirmed
-- The candidates that the months from the first span on do not refute, read in one pass. A later day refutes a price unless it
-- is an outlier. A return, which is of no currency, is refuted by a day of another load than this ($1) that is not before it.
CREATE TEMP TABLE watch_confirmed ON COMMIT DROP AS
SELECT c.n, c.watch_id, c.owner_id, c.condition, c.kind, c.currency, c.day, c.low, c.since, least(c.low_before, s.low) AS low_before,
       NULL::float8 AS percent, c.known OR coalesce(s.earlier, false) AS is_known
FROM watch_candidates c LEFT JOIN (
    SELECT n, min(o.price_minor) FILTER (WHERE o.day >= m.since AND o.day < m.day AND o.outlier IS NULL) AS low,
           bool_or(CASE WHEN m.currency IS NULL THEN o.day >= m.day AND o.load_no <> $1 ELSE o.day > m.day AND o.outlier IS NULL END)
               AS later,
           bool_or(o.day >= m.since AND o.day < m.day) AS inside, bool_or(o.day <= m.since) AS earlier
    FROM watch_members m
    JOIN {table} o ON o.item_id = m.item_id AND o.kind = m.kind AND (m.currency IS NULL OR o.currency = m.currency)
    GROUP BY n) s USING (n)
WHERE NOT coalesce(s.later, false)
  AND CASE c.condition
      WHEN 'new-low' THEN c.low < least(c.low_before, s.low) WHEN 'returned' THEN NOT coalesce(s.inside, false) ELSE true END;

-- name: analyze_confirmed
-- For the same reason.
ANALYZE watch_confirmed (n, watch_id, owner_id, is_known);

-- name: any_unknown
-- As long as there is one, an older month is read.
SELECT EXISTS (SELECT FROM watch_confirmed WHERE NOT is_known);

-- name: known_in_month
-- Of all that is older than the spans only its existence matters.
UPDATE watch_confirmed c SET is_known = true
FROM watch_members m JOIN {table} o ON o.item_id = m.item_id
WHERE NOT c.is_known AND m.n = c.n AND o.kind = c.kind
  AND (c.currency IS NULL OR o.currency = c.currency) AND o.day <= c.since;

-- name: not_entitled
-- Nothing is reported to an organization that is suspended, or whose plan has no watches ($1: the lowest rank with them); nor is it
-- remembered as reported.
DELETE FROM watch_confirmed f USING watches w, organizations o, plans p
WHERE w.id = f.watch_id AND o.id = w.organization_id AND p.name = o.plan AND (o.state <> 'active' OR p.rank < $1);

-- name: fired
-- What is reported, with its watch and its article. An article without any day before its span is new: it is neither back nor at
-- its low of so many days.
SELECT w.organization_id::text, w.id::text, w.label, w.target, w.code, w.condition, w.kind::text, w.currency, w.amount_minor, w.days,
       w.percent::float8, i.iid, f.day, f.low, f.low_before, f.percent
FROM watch_confirmed f JOIN watches w ON w.id = f.watch_id LEFT JOIN items i ON i.id = f.owner_id
WHERE f.is_known ORDER BY f.condition, f.watch_id, f.owner_id;

-- name: remember
-- In the transaction of the load: the event and its memory are committed together or not at all.
INSERT INTO watch_states (watch_id, item_id, day, amount_minor, percent)
SELECT watch_id, owner_id, day, low, percent FROM watch_confirmed WHERE is_known
ON CONFLICT (watch_id, item_id) DO UPDATE
SET armed = false, day = excluded.day, amount_minor = excluded.amount_minor, percent = excluded.percent;

-- name: log
-- One event for each, in their order.
INSERT INTO event_log (organization_id, type, data)
SELECT f.organization_id, 'watch.fired', f.data::jsonb
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY f (organization_id, data, place) ORDER BY f.place;

-- name: index_targets
-- The brands and categories whose index is watched, with the rows of the rollups that are theirs: of a category also those
-- below it. Only those with a touched month ($1) among their two newest.
WITH watched AS (
    SELECT DISTINCT target, code, kind, currency FROM watches WHERE paused_at IS NULL AND condition = 'index-moved'),
rollups AS (
    SELECT w.*, 'b'::"char" AS scope, b.id FROM watched w JOIN brands b ON b.slug = w.code WHERE w.target = 'brand'
    UNION ALL
    SELECT w.*, 'c'::"char", c.id FROM watched w JOIN categories c ON c.code = w.code OR starts_with(c.code, w.code || '.')
    WHERE w.target = 'category'),
priced AS (
    SELECT c.target, c.code, c.kind, c.currency, m.month, m.item_prices,
           dense_rank() OVER (PARTITION BY c.target, c.code, c.kind, c.currency ORDER BY m.month DESC) AS place
    FROM rollups c JOIN month_cells m ON m.scope = c.scope AND m.id = c.id AND m.kind = c.kind AND m.currency = c.currency
    WHERE m.month >= (SELECT min(month) FROM unnest($1::date[]) t (month)) - interval '1 month')
SELECT target, code, kind::text, currency, month, item_prices FROM priced p
WHERE place <= 2 AND EXISTS (SELECT FROM priced q WHERE (q.target, q.code, q.kind, q.currency) = (p.target, p.code, p.kind, p.currency)
                             AND q.place <= 2 AND q.month = ANY ($1::date[]))
ORDER BY target, code, kind, currency, month;

-- name: index_moved
-- Within a month it reports again where the change has moved as far again since it reported.
INSERT INTO watch_confirmed (watch_id, owner_id, condition, day, percent, is_known)
SELECT w.id, 0, w.condition, f.month, f.change, true
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::date[], $6::float8[]) f (target, code, kind, currency, month, change)
JOIN watches w ON w.target = f.target AND w.code = f.code AND w.kind = f.kind::"char" AND w.currency = f.currency
LEFT JOIN watch_states s ON s.watch_id = w.id AND s.item_id = 0
WHERE w.condition = 'index-moved' AND w.paused_at IS NULL AND abs(f.change) > w.percent
  AND (s.watch_id IS NULL OR s.day < f.month OR (s.day = f.month AND abs(f.change - s.percent) > w.percent));
