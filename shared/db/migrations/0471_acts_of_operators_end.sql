-- phase: expand
-- What operators did is deleted after its time. The worker that deletes it can take away nothing that waits or is recent: the
-- rows say who did what.
CREATE POLICY worker_operator_acts ON operator_acts TO itemindex_worker
    USING (ended_at < statement_timestamp() - interval '90 days');
GRANT SELECT (ended_at), DELETE ON operator_acts TO itemindex_worker;
