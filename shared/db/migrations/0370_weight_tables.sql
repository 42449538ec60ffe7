-- phase: expand
-- Tables of weights that organizations upload for aggregates of price indices; each upload is a version of its own.

CREATE TABLE weight_tables (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_.-]{0,63}$'),
    version integer NOT NULL CHECK (version > 0),
    price_reference date NOT NULL,
    sha256 text NOT NULL CHECK (length(sha256) = 64),
    table_rows text CHECK (length(table_rows) <= 1000000),
    row_count integer NOT NULL CHECK (row_count > 0),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    deleted_at timestamptz CHECK ((deleted_at IS NULL) = (table_rows IS NOT NULL)),
    UNIQUE (organization_id, name, version)
);
COMMENT ON COLUMN weight_tables.price_reference IS 'a day of the period in whose prices the weights are';
COMMENT ON COLUMN weight_tables.sha256 IS 'of the price reference and the rows';
COMMENT ON COLUMN weight_tables.table_rows IS 'JSON, a list of code, parent and weight for each row; null once deleted';
COMMENT ON COLUMN weight_tables.deleted_at IS 'a deleted version keeps its number, so that no other table ever has it';

ALTER TABLE weight_tables ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_weight_tables ON weight_tables TO itemindex_edge
    USING (organization_id = (SELECT context_organization())) WITH CHECK (organization_id = (SELECT context_organization()));
CREATE POLICY worker_weight_tables ON weight_tables FOR SELECT TO itemindex_worker, itemindex_analytics USING (true);
GRANT SELECT, INSERT ON weight_tables TO itemindex_edge;
GRANT UPDATE (table_rows, deleted_at) ON weight_tables TO itemindex_edge;
GRANT SELECT ON weight_tables TO itemindex_worker, itemindex_analytics;

CREATE OR REPLACE FUNCTION audit_notices(p_organization uuid, p_actor text, p_act text, p_subject text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF NOT is_operator() AND (p_organization IS DISTINCT FROM context_organization() OR p_act !~ '^(watch|webhook|weights)\.[a-z-]+$') THEN
        RAISE insufficient_privilege USING MESSAGE = 'this is not of the acting organization';
    END IF;
    PERFORM write_audit(p_organization, context_person(), p_actor, p_act, p_subject);
    RETURN true;
END $$;
