-- phase: expand
-- Acts of operators in the dashboard. The edge may change nothing that they are about: it notes each act here, and
-- `itemindex feeds run`, which runs as the owner, does it as the command of the same name would.

CREATE TABLE operator_acts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    person_id uuid NOT NULL,
    person text NOT NULL CHECK (length(person) BETWEEN 1 AND 300),
    act text NOT NULL CHECK (act ~ '^[a-z]+\.[a-z-]+$'),
    subject text NOT NULL CHECK (length(subject) <= 300),
    title text NOT NULL CHECK (length(title) <= 300),
    arguments jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'refused')),
    detail text,
    outcome jsonb,
    ended_at timestamptz,
    CHECK ((state = 'waiting') = (ended_at IS NULL))
);
COMMENT ON TABLE operator_acts IS 'what operators did in the dashboard, and what became of it';
COMMENT ON COLUMN operator_acts.subject IS 'the id, the number or the name of what it is about';
COMMENT ON COLUMN operator_acts.title IS 'what people call the subject';
CREATE INDEX operator_acts_waiting ON operator_acts (id) WHERE state = 'waiting';

ALTER TABLE operator_acts ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_operator_acts ON operator_acts FOR SELECT TO itemindex_edge
    USING ((SELECT context_task()) = 'operator');
CREATE POLICY edge_operator_acts_own ON operator_acts FOR INSERT TO itemindex_edge
    WITH CHECK (person_id = (SELECT context_person()));
GRANT SELECT, INSERT (person_id, person, act, subject, title, arguments) ON operator_acts TO itemindex_edge;

-- What its queue or its lease should have moved on by now: it waits five minutes behind its time, or its worker is gone.
CREATE FUNCTION job_is_stuck(job jobs) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (job.state = 'queued' AND job.not_before < statement_timestamp() - interval '5 minutes')
        OR (job.state = 'running' AND job.lease_until < statement_timestamp() - interval '1 minute')
$$;

-- Operators see the accounts of all organizations, and change none from the edge.
CREATE POLICY operator_organizations ON organizations FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_people ON people FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_members ON members FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_plan_requests ON plan_requests FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_audit ON audit FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_jobs ON jobs FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_job_orders ON job_orders FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');
CREATE POLICY operator_outbox_mails ON outbox_mails FOR SELECT TO itemindex_edge USING ((SELECT context_task()) = 'operator');

-- Loads hold nothing of an organization. Whole rows that were refused stay with the owner: they may hold what no column of
-- the mapping reads.
GRANT SELECT ON loads TO itemindex_edge;
GRANT SELECT (load_id, file, line, reason, column_name, value) ON rejects TO itemindex_edge;
GRANT SELECT (load_id, actor, reason, part_of) ON events TO itemindex_edge;
