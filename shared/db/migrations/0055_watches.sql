-- phase: expand
-- Watches of organizations over prices, evaluated inside each load.

CREATE TABLE watches (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    label text CHECK (length(label) BETWEEN 1 AND 200),
    target text NOT NULL CHECK (target IN ('article', 'brand', 'category')),
    code text NOT NULL CHECK (length(code) BETWEEN 1 AND 400),
    condition text NOT NULL CHECK (condition IN ('below', 'new-low', 'returned', 'index-moved')),
    kind "char" NOT NULL CHECK (kind IN ('l', 's')),
    currency character(3) CHECK ((currency IS NULL) = (condition = 'returned')),
    amount_minor bigint CHECK ((amount_minor IS NULL) = (condition <> 'below')),
    days integer CHECK ((days IS NULL) = (condition NOT IN ('new-low', 'returned'))),
    percent numeric CHECK ((percent IS NULL) = (condition <> 'index-moved')),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    paused_at timestamptz,
    CHECK (target <> 'article' OR condition <> 'index-moved')
);
COMMENT ON COLUMN watches.days IS 'of a low: how far back; of a return: how long the absence';
COMMENT ON COLUMN watches.code IS 'the IID of an article, the slug of a brand, the code of a category';
COMMENT ON COLUMN watches.kind IS 'l: listings, s: sales';
CREATE INDEX watches_organization ON watches (organization_id, id DESC);
CREATE INDEX watches_active ON watches (target, code) WHERE paused_at IS NULL;

CREATE TABLE watch_states (
    watch_id uuid NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
    item_id bigint NOT NULL,
    armed boolean NOT NULL DEFAULT false,
    day date NOT NULL,
    amount_minor bigint,
    percent double precision,
    PRIMARY KEY (watch_id, item_id)
);
COMMENT ON TABLE watch_states IS 'what each watch reported last of each article; no row: nothing yet, so it is armed';
COMMENT ON COLUMN watch_states.item_id IS '0 where the watch is of an index';

-- In the audit log of its own organization, by the name of the key or person that acts.
CREATE FUNCTION audit_notices(p_organization uuid, p_actor text, p_act text, p_subject text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    IF NOT is_operator() AND (p_organization IS DISTINCT FROM context_organization() OR p_act !~ '^(watch|webhook)\.[a-z-]+$') THEN
        RAISE insufficient_privilege USING MESSAGE = 'this is not of the acting organization';
    END IF;
    PERFORM write_audit(p_organization, context_person(), p_actor, p_act, p_subject);
    RETURN true;
END $$;

ALTER TABLE watches ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_watches ON watches TO itemindex_edge
    USING (organization_id = (SELECT context_organization())) WITH CHECK (organization_id = (SELECT context_organization()));
GRANT SELECT, INSERT, DELETE ON watches TO itemindex_edge;
GRANT UPDATE (label, paused_at) ON watches TO itemindex_edge;
REVOKE ALL ON FUNCTION audit_notices(uuid, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_notices(uuid, text, text, text) TO itemindex_edge;
