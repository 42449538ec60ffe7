-- phase: expand
-- The last day of an item's default answers. A day without another one in the 30 days before it is mostly misdated: it would
-- leave windows of 7 to 90 days with that one price. Where days are mostly so far apart, the last one counts. In PL/pgSQL,
-- which keeps the plans of its statements: each read of a record calls it.
CREATE FUNCTION window_end(days date[]) RETURNS date LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE newest date := (SELECT max(day) FROM unnest(days) AS day);
BEGIN
    IF EXISTS (SELECT FROM unnest(days) AS day WHERE day < newest AND day >= newest - 30) THEN
        RETURN newest;
    END IF;
    RETURN (
        WITH gaps AS (
            SELECT day, day - lag(day) OVER (ORDER BY day) AS gap FROM (SELECT DISTINCT day FROM unnest(days) AS day) seen),
        usual AS (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY gap) AS gap FROM gaps)
        SELECT coalesce(max(g.day) FILTER (WHERE g.gap <= 30 OR u.gap > 30), newest) FROM gaps g CROSS JOIN usual u);
END $$;
COMMENT ON FUNCTION window_end(date[]) IS 'last day of the default window of an item that has prices on these days; null without any';
