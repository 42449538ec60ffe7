-- phase: expand
-- Questions that members keep under a name, to ask them again. Everybody in the organization sees them.

CREATE TABLE saved_reports (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    question text NOT NULL CHECK (length(question) BETWEEN 1 AND 4000),
    created_by text NOT NULL CHECK (length(created_by) <= 300),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    last_order uuid,
    last_run_at timestamptz
);
COMMENT ON COLUMN saved_reports.question IS 'the query of the address that asks it, whose days may be relative to the newest data';
COMMENT ON COLUMN saved_reports.last_order IS 'the order of its newest run; its result may have expired';
CREATE INDEX saved_reports_organization ON saved_reports (organization_id, id DESC);

ALTER TABLE saved_reports ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_saved_reports ON saved_reports TO itemindex_edge
    USING (organization_id = (SELECT context_organization())) WITH CHECK (organization_id = (SELECT context_organization()));
GRANT SELECT, INSERT, DELETE ON saved_reports TO itemindex_edge;
GRANT UPDATE (name, last_order, last_run_at) ON saved_reports TO itemindex_edge;
