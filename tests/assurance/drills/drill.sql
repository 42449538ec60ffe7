-- name: write_down
-- Every change of every job, recorded by the database itself, so that no code can omit one.
CREATE TABLE drill_moves (job_id uuid NOT NULL, attempt integer NOT NULL, state text NOT NULL, sign_of_life timestamptz,
                          at timestamptz NOT NULL DEFAULT clock_timestamp());

-- name: on_each_move
-- It runs as the owner, because the tiers' roles may not write here. A lease tells when its worker was last heard of.
CREATE FUNCTION drill_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NEW.state IS DISTINCT FROM OLD.state OR NEW.result IS DISTINCT FROM OLD.result THEN
        INSERT INTO public.drill_moves (job_id, attempt, state, sign_of_life) VALUES (NEW.id, NEW.attempt, NEW.state, OLD.lease_until);
    END IF;
    RETURN NULL;
END $$;

-- name: watch_jobs
-- After the row was written, so that what is noted is what was kept.
CREATE TRIGGER drill_noted AFTER UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION drill_note();

-- name: begin
-- One snapshot, so that a question has one answer.
INSERT INTO data_versions (version) VALUES (1);

-- name: lift_limits
-- The drills are about loss, not about limits.
UPDATE plans SET daily_units = 1000000000, burst_units = 1000000,
    jobs_running = CASE counted_by WHEN 'organization' THEN 64 ELSE 0 END,
    jobs_queued = CASE counted_by WHEN 'organization' THEN 100000 ELSE 0 END;

-- name: limit_brands
-- An attack within a plan needs a plan with limits again.
UPDATE plans SET daily_units = 50000, burst_units = 50 WHERE name = 'brand';

-- name: lift_institutional
-- The organization that orders the reports has no limit; all others keep theirs.
UPDATE plans SET daily_units = 1000000000, burst_units = 1000000, jobs_running = 64, jobs_queued = 100000
WHERE name = 'institutional';

-- name: small_allowance
-- A day's allowance that a drill can use up.
UPDATE plans SET daily_units = $1, burst_units = 1000 WHERE name = 'brand';

-- name: open
-- Orders that have not ended, and how many there are in all.
SELECT count(*) FILTER (WHERE j.state IN ('queued', 'running')), count(*)
FROM job_orders o JOIN jobs j ON j.id = o.job_id;

-- name: failed
-- Orders that ended without a result.
SELECT count(*) FROM job_orders o JOIN jobs j ON j.id = o.job_id WHERE j.state = 'failed';

-- name: orders
-- Everything that was ordered and what became of it.
SELECT o.id::text, j.id::text, j.parameters, j.state, j.attempt, j.error ->> 'slug', j.result ->> 'result_sha256', j.result ->> 'key'
FROM job_orders o JOIN jobs j ON j.id = o.job_id ORDER BY o.id;

-- name: published
-- How often each job was published.
SELECT job_id::text, count(*) FROM drill_moves WHERE state = 'succeeded' GROUP BY job_id;

-- name: ended
-- Jobs that have ended, whose messages a broker may deliver again.
SELECT id::text FROM jobs WHERE state IN ('succeeded', 'failed') AND queue = 'reports';

-- name: taken_after_end
-- Jobs that were taken up, or that ended, again after they had ended.
SELECT count(DISTINCT later.job_id) FROM drill_moves first JOIN drill_moves later USING (job_id)
WHERE first.state IN ('succeeded', 'failed', 'cancelled') AND later.at > first.at AND later.state <> 'expired';

-- name: overtaken
-- Results that an attempt has published which was no longer the job's.
SELECT count(*) FROM jobs WHERE state = 'succeeded' AND queue = 'reports' AND result ->> 'key' NOT LIKE '%/' || attempt || '/%';

-- name: running
-- Jobs that are being worked on, by the attempt that does.
SELECT id::text, attempt FROM jobs WHERE state = 'running' AND lease_until > statement_timestamp() ORDER BY started_at;

-- name: running_of
-- The job of one question, by the attempt that works on it.
SELECT id::text, attempt FROM jobs WHERE state = 'running' AND parameters ->> 'from' = $1::text;

-- name: taken_again
-- When another attempt began, by the database's clock.
SELECT extract(epoch FROM min(at))::float8 FROM drill_moves WHERE job_id = $1 AND attempt > $2 AND state = 'running';

-- name: clock
-- The database's own time, which the moves are noted in.
SELECT extract(epoch FROM clock_timestamp())::float8;

-- name: owed
-- Refunds that are not settled yet.
SELECT count(*) FROM job_orders WHERE refund_due;

-- name: some_item
-- Anything that callers may look up, and a brand that a cohort may be of.
SELECT i.iid, b.slug FROM items i JOIN brands b ON b.id = i.brand_id ORDER BY b.item_count DESC, i.iid LIMIT 1;

-- name: log_event
-- The next event of a key's organization, with its number.
INSERT INTO event_log (organization_id, type, data)
SELECT organization_id, 'key.rotated', jsonb_build_object('n', $2::integer) FROM api_keys WHERE key_id = $1;

-- name: webhooks_pending
-- Webhooks, of $1 or of all, whose receivers have not accepted all events of their organizations.
SELECT count(*) FROM webhook_endpoints w
WHERE ($1::uuid[] IS NULL OR w.id = ANY ($1::uuid[]))
  AND EXISTS (SELECT FROM event_log l WHERE l.organization_id = w.organization_id AND l.number > w.position
              AND (w.types IS NULL OR l.type = ANY (w.types)));
