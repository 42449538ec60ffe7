-- phase: expand
-- All orders of a job, cancelled ones too: whether an organization may see it, what is owed when it ends, and what is
-- deleted with it. The unique index job_orders_own stays, for it has one standing order of each organization.
CREATE INDEX CONCURRENTLY IF NOT EXISTS job_orders_job ON job_orders (job_id);
