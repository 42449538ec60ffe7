-- phase: expand
-- By which the edges find what is due.

CREATE INDEX CONCURRENTLY saved_reports_due ON saved_reports (next_run_at) WHERE next_run_at IS NOT NULL;
