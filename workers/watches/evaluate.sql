-- name: any_active
-- Most loads of most installations end here.
SELECT EXISTS (SELECT FROM watches WHERE paused_at IS NULL);

-- name: touched
-- The articles and months that the load changed, by what the refresh of the rollups has just found.
CREATE TEMP TABLE watch_touched ON COMMIT DROP AS
SELECT DISTINCT coalesce(x.owner_id, t.item_id) AS owner_id, t.month
FROM touched_items t LEFT JOIN inactive_items x ON x.item_id = t.item_id;

-- name: touched_by_load
-- Months that are all new are not among them. All that they have is the load's, so of its articles no month is kept.
INSERT INTO watch_touched
SELECT coalesce(x.owner_id, s.id), NULL::date FROM stage_spans s LEFT JOIN inactive_items x ON x.item_id = s.id;

-- name: analyze_touched
-- The planner knows nothing of temporary tables.
ANALYZE watch_touched;

-- name: keys
-- By which of its names each touched article is watched: its IID or one that was merged into it, its brand, its category or
-- one above. A watch finds its articles by a join of names alone. `priced`: a watch of that name waits for a price; `absent`:
-- the shortest absence that one waits for. The names are not materialized: the planner must know how many each target has.
CREATE TEMP TABLE watch_keys ON COMMIT DROP AS
WITH touched AS MATERIALIZED (
    SELECT i.id AS owner_id, i.brand_id, i.category_id
    FROM (SELECT DISTINCT owner_id FROM watch_touched) t JOIN items i ON i.id = t.owner_id WHERE i.status = 'active'),
active AS NOT MATERIALIZED (
    SELECT target, code, bool_or(condition <> 'returned') AS priced, min(days) FILTER (WHERE condition = 'returned') AS absent
    FROM watches WHERE paused_at IS NULL AND condition <> 'index-moved' GROUP BY target, code)
SELECT t.owner_id, a.*
FROM active a JOIN items n ON n.iid = a.code COLLATE "C" LEFT JOIN inactive_items x ON x.item_id = n.id
JOIN touched t ON t.owner_id = coalesce(x.owner_id, n.id) WHERE a.target = 'article'
UNION ALL
SELECT t.owner_id, a.* FROM active a JOIN brands b ON b.slug = a.code JOIN touched t ON t.brand_id = b.id WHERE a.target = 'brand'
UNION ALL
SELECT t.owner_id, a.* FROM active a JOIN categories c ON c.code = a.code OR starts_with(c.code, a.code || '.')
JOIN touched t ON t.category_id = c.id WHERE a.target = 'category';

-- name: analyze_keys
-- For the same reason.
ANALYZE watch_keys;

-- name: members
-- The items whose observations are an article's: itself and those that are part of it.
CREATE TEMP TABLE watch_members ON COMMIT DROP AS
WITH watched AS (SELECT owner_id, bool_or(priced) AS priced, min(absent) AS absent FROM watch_keys GROUP BY owner_id)
SELECT owner_id, owner_id AS item_id, priced, absent FROM watched
UNION ALL SELECT x.owner_id, x.item_id, w.priced, w.absent FROM watched w JOIN inactive_items x USING (owner_id);

-- name: analyze_members
-- For the same reason.
ANALYZE watch_members;

-- name: latest
-- The newest day of each article among the touched months with its lowest price, and the lowest price of that day's month.
CREATE TEMP TABLE watch_latest (
    owner_id bigint, kind "char", currency character(3), day date, low bigint, month_low bigint
) ON COMMIT DROP;

-- name: latest_of_month
-- One month's partition ($1) at a time, the newest first: articles with a day in a newer month are left out. Outliers report nothing.
-- The greatest of day times 2^50 minus price is the lowest price of the newest day: prices are below 2^50, and one aggregate
-- without a sort takes a third of the time of days that are sorted.
INSERT INTO watch_latest
SELECT owner_id, kind, currency, $1::date + ((newest + low) >> 50)::integer, low, month_low
FROM (SELECT *, -newest & ((1::bigint << 50) - 1) AS low
      FROM (SELECT m.owner_id, o.kind, o.currency, min(o.price_minor) AS month_low,
                   max(((o.day - $1::date)::bigint << 50) - o.price_minor) AS newest
            FROM watch_touched t JOIN watch_members m USING (owner_id) JOIN {table} o ON o.item_id = m.item_id
            WHERE t.month = $1 AND m.priced AND o.outlier IS NULL AND NOT EXISTS (
                SELECT FROM watch_latest l WHERE l.owner_id = m.owner_id AND l.kind = o.kind AND l.currency = o.currency)
            GROUP BY m.owner_id, o.kind, o.currency) c) d;

-- name: latest_of_new_month
-- The same of a month that has nothing but the load's observations.
INSERT INTO watch_latest
SELECT owner_id, kind, currency, $1::date + ((newest + low) >> 50)::integer, low, month_low
FROM (SELECT *, -newest & ((1::bigint << 50) - 1) AS low
      FROM (SELECT m.owner_id, o.kind, o.currency, min(o.price_minor) AS month_low,
                   max(((o.day - $1::date)::bigint << 50) - o.price_minor) AS newest
            FROM watch_members m JOIN {table} o USING (item_id)
            WHERE m.priced AND o.outlier IS NULL AND NOT EXISTS (
                SELECT FROM watch_latest l WHERE l.owner_id = m.owner_id AND l.kind = o.kind AND l.currency = o.currency)
            GROUP BY m.owner_id, o.kind, o.currency) c) d;

-- name: analyze_latest
-- For the same reason.
ANALYZE watch_latest;

-- name: days
-- The days on which articles whose return is waited for were observed. A month's days are one row where no return of 30 days
-- or more can be among them. `is_new`: everything of the first day is of this load.
CREATE TEMP TABLE watch_days (owner_id bigint, kind "char", first_day date, last_day date, is_new boolean) ON COMMIT DROP;

-- name: days_of_month
-- An outlier is a day as well: the article was there, whatever price was noted. $2: the load.
INSERT INTO watch_days
SELECT owner_id, kind, first_day, last_day, former_day IS NULL OR former_day > first_day
FROM (SELECT m.owner_id, o.kind, min(o.day) AS first_day, max(o.day) AS last_day,
             min(o.day) FILTER (WHERE o.load_no <> $2) AS former_day
      FROM watch_touched t JOIN watch_members m USING (owner_id) JOIN {table} o ON o.item_id = m.item_id
      WHERE t.month = $1 AND m.absent IS NOT NULL
      GROUP BY m.owner_id, o.kind, CASE WHEN m.absent < 30 THEN o.day END) d;

-- name: days_of_new_month
-- The same of a month that has nothing but the load's observations.
INSERT INTO watch_days
SELECT m.owner_id, o.kind, min(o.day), max(o.day), true FROM watch_members m JOIN {table} o USING (item_id)
WHERE m.absent IS NOT NULL GROUP BY m.owner_id, o.kind, CASE WHEN m.absent < 30 THEN o.day END;

-- name: analyze_days
-- For the same reason.
ANALYZE watch_days;

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
DELETE FROM watch_risen r USING watch_members m, {table} o
WHERE r.day < $1 AND m.owner_id = r.item_id AND o.item_id = m.item_id AND o.kind = r.kind AND o.currency = r.currency
  AND o.outlier IS NULL;

-- name: rearm
-- Now the price can fall below the amount again.
UPDATE watch_states s SET armed = true FROM watch_risen r WHERE s.watch_id = r.watch_id AND s.item_id = r.item_id;

-- name: candidates
-- Candidates of the days of the load. Whether they report depends on other months too, which are read once for all of them:
-- a query of its own for each of 100,000 watches takes minutes. `since`: the first day of the span before; `known`: the
-- article was observed by then, as far as that is asked.
CREATE TEMP TABLE watch_candidates (
    watch_id uuid, owner_id bigint, condition text, kind "char", currency character(3), day date, low bigint, since date, known boolean
) ON COMMIT DROP;

-- name: priced
-- The last report is not repeated, also when its load was undone and done once more. A span of a low has 30 days
-- or more, so the rest of the month is part of it: a price above the month's lowest is no new low. $1: see HYSTERESIS.
INSERT INTO watch_candidates
SELECT w.id, l.owner_id, w.condition, l.kind, l.currency, l.day, l.low, l.day - coalesce(w.days, 0), w.condition = 'below'
FROM watch_latest l JOIN watch_keys k USING (owner_id)
JOIN watches w ON w.target = k.target AND w.code = k.code AND w.kind = l.kind AND w.currency = l.currency
LEFT JOIN watch_states s ON s.watch_id = w.id AND s.item_id = l.owner_id
WHERE w.paused_at IS NULL AND (s.watch_id IS NULL OR (s.day, s.amount_minor) IS DISTINCT FROM (l.day, l.low))
  AND CASE w.condition
      WHEN 'below' THEN l.low < w.amount_minor AND coalesce(s.armed, true)
      WHEN 'new-low' THEN l.low = l.month_low
          AND (s.watch_id IS NULL OR l.day - s.day > w.days OR l.low <= s.amount_minor * (1 - $1::numeric)) END;

-- name: returned
-- The last day of this load before which the touched months have nothing for the watch's days. If that one is no return
-- because another month has a day in between, then no day before it is one: an earlier load knows a later day.
INSERT INTO watch_candidates
SELECT DISTINCT ON (w.id, d.owner_id) w.id, d.owner_id, w.condition, d.kind, NULL, d.first_day, NULL::bigint,
       d.first_day - w.days, d.day_before IS NOT NULL
FROM (SELECT *, lag(last_day) OVER (PARTITION BY owner_id, kind ORDER BY first_day) AS day_before FROM watch_days) d
JOIN watch_keys k USING (owner_id)
JOIN watches w ON w.target = k.target AND w.code = k.code AND w.kind = d.kind
LEFT JOIN watch_states s ON s.watch_id = w.id AND s.item_id = d.owner_id
WHERE w.condition = 'returned' AND w.paused_at IS NULL AND d.is_new
  AND (d.day_before IS NULL OR d.first_day - d.day_before > w.days) AND (s.watch_id IS NULL OR s.day < d.first_day)
ORDER BY w.id, d.owner_id, d.first_day DESC;

-- name: analyze_candidates
-- For the same reason.
ANALYZE watch_candidates;

-- name: months
-- The months that have observations, the newest first, and the first one that a span of a candidate reaches into; without
-- candidates there is no row.
SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS month, (SELECT date_trunc('month', min(since))::date FROM watch_candidates)
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'observations'::regclass AND EXISTS (SELECT FROM watch_candidates) ORDER BY month DESC;

-- name: seen
-- The values of a month for a candidate: the low inside its span, whether anything is later, inside, and at or before its first day.
CREATE TEMP TABLE watch_seen (watch_id uuid, owner_id bigint, low bigint, later boolean, inside boolean, earlier boolean) ON COMMIT DROP;

-- name: see_month
-- A later day refutes a price unless it is an outlier, and a return unless this load ($1) brings it.
INSERT INTO watch_seen
SELECT c.watch_id, c.owner_id, min(o.price_minor) FILTER (WHERE o.day >= c.since AND o.day < c.day AND o.outlier IS NULL),
       bool_or(o.day > c.day AND CASE c.condition WHEN 'returned' THEN o.load_no <> $1 ELSE o.outlier IS NULL END),
       bool_or(o.day >= c.since AND o.day < c.day), bool_or(o.day <= c.since)
FROM watch_candidates c JOIN watch_members m USING (owner_id)
JOIN {table} o ON o.item_id = m.item_id AND o.kind = c.kind AND (c.currency IS NULL OR o.currency = c.currency)
GROUP BY c.watch_id, c.owner_id;

-- name: see_new_month
-- A month that has nothing but the load's observations can only have a lower price: no day of it is later than the newest, and
-- its gaps are known.
INSERT INTO watch_seen
SELECT c.watch_id, c.owner_id, min(o.price_minor) FILTER (WHERE o.day >= c.since AND o.outlier IS NULL), false, false,
       bool_or(o.day <= c.since)
FROM watch_candidates c JOIN watch_members m USING (owner_id)
JOIN {table} o ON o.item_id = m.item_id AND o.kind = c.kind AND o.currency = c.currency
WHERE c.condition = 'new-low' AND o.day < c.day GROUP BY c.watch_id, c.owner_id;

-- name: confirmed
-- The candidates that the months from the first span on do not refute.
CREATE TEMP TABLE watch_confirmed ON COMMIT DROP AS
SELECT c.watch_id, c.owner_id, c.condition, c.kind, c.currency, c.day, c.low, c.since, s.low AS low_before,
       c.known OR coalesce(s.earlier, false) AS is_known
FROM watch_candidates c LEFT JOIN (
    SELECT watch_id, owner_id, min(low) AS low, bool_or(later) AS later, bool_or(inside) AS inside, bool_or(earlier) AS earlier
    FROM watch_seen GROUP BY watch_id, owner_id) s USING (watch_id, owner_id)
WHERE NOT coalesce(s.later, false)
  AND CASE c.condition WHEN 'new-low' THEN c.low < s.low WHEN 'returned' THEN NOT coalesce(s.inside, false) ELSE true END;

-- name: any_unknown
-- As long as there is one, an older month is read.
SELECT EXISTS (SELECT FROM watch_confirmed WHERE NOT is_known);

-- name: known_in_month
-- Of all that is older than the spans only its existence matters.
UPDATE watch_confirmed c SET is_known = true
FROM watch_members m, {table} o
WHERE NOT c.is_known AND m.owner_id = c.owner_id AND o.item_id = m.item_id AND o.kind = c.kind
  AND (c.currency IS NULL OR o.currency = c.currency) AND o.day <= c.since;

-- name: found
-- An article without any day before its span is new: it is neither back nor at its low of so many days.
SELECT watch_id::text, owner_id, day, low, low_before FROM watch_confirmed WHERE is_known ORDER BY condition, watch_id, owner_id;

-- name: describe
-- The data of an event: its watch and its article.
SELECT w.id::text, w.label, w.target, w.code, w.condition, w.kind::text, w.currency, w.amount_minor, w.days, w.percent::float8, i.iid
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY f (watch_id, item_id, place)
JOIN watches w ON w.id = f.watch_id LEFT JOIN items i ON i.id = f.item_id ORDER BY f.place;

-- name: remember
-- In the transaction of the load: the event and its memory are committed together or not at all.
INSERT INTO watch_states (watch_id, item_id, day, amount_minor, percent)
SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::date[], $4::bigint[], $5::float8[])
ON CONFLICT (watch_id, item_id) DO UPDATE
SET armed = false, day = excluded.day, amount_minor = excluded.amount_minor, percent = excluded.percent;

-- name: log
-- One event for each, in their order.
INSERT INTO event_log (organization_id, type, data)
SELECT w.organization_id, 'watch.fired', f.data
FROM jsonb_array_elements($1) WITH ORDINALITY f (data, place) JOIN watches w ON w.id = (f.data ->> 'watch')::uuid
ORDER BY f.place;

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
SELECT w.id::text, 0::bigint, f.month, f.change
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::date[], $6::float8[]) f (target, code, kind, currency, month, change)
JOIN watches w ON w.target = f.target AND w.code = f.code AND w.kind = f.kind::"char" AND w.currency = f.currency
LEFT JOIN watch_states s ON s.watch_id = w.id AND s.item_id = 0
WHERE w.condition = 'index-moved' AND w.paused_at IS NULL AND abs(f.change) > w.percent
  AND (s.watch_id IS NULL OR s.day < f.month OR (s.day = f.month AND abs(f.change - s.percent) > w.percent));

-- name: months_with_observations
-- Undoing a load may leave a touched month without a partition.
SELECT DISTINCT t.month FROM watch_touched t
WHERE t.month IS NOT NULL AND to_regclass('observations_' || to_char(t.month, 'YYYY_MM')) IS NOT NULL ORDER BY t.month;
