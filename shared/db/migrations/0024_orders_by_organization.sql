-- phase: contract
-- The edge sees an organization's own orders, and of jobs those that it ordered. Equal requests share one job, so placing
-- an order, cancelling the last one, and measuring the queues look at all of them: the task `jobs`.

ALTER TABLE job_orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_job_orders ON job_orders FOR SELECT TO itemindex_edge
    USING (organization_id = (SELECT context_organization()) OR (SELECT context_task()) = 'jobs');
CREATE POLICY edge_job_orders_placed ON job_orders FOR INSERT TO itemindex_edge
    WITH CHECK (organization_id = (SELECT context_organization()));
CREATE POLICY edge_job_orders_changed ON job_orders FOR UPDATE TO itemindex_edge
    USING (organization_id = (SELECT context_organization()))
    WITH CHECK (organization_id = (SELECT context_organization()));
CREATE POLICY worker_job_orders ON job_orders TO itemindex_worker USING (true) WITH CHECK (true);

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_jobs ON jobs FOR SELECT TO itemindex_edge
    USING ((SELECT context_task()) = 'jobs' OR EXISTS (SELECT FROM job_orders o WHERE o.job_id = jobs.id));
CREATE POLICY edge_jobs_made ON jobs FOR INSERT TO itemindex_edge WITH CHECK ((SELECT context_task()) = 'jobs');
CREATE POLICY edge_jobs_changed ON jobs FOR UPDATE TO itemindex_edge
    USING ((SELECT context_task()) = 'jobs') WITH CHECK ((SELECT context_task()) = 'jobs');
CREATE POLICY worker_jobs ON jobs TO itemindex_worker USING (true) WITH CHECK (true);

-- A job that ends owes its price to each organization that ordered it, whoever ends it.
ALTER FUNCTION tell_job() SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp;
REVOKE ALL ON FUNCTION tell_job() FROM PUBLIC;
