-- phase: expand
-- Files that operators upload in the dashboard, with what is wanted of each. `itemindex feeds run`, which runs as
-- the owner, guesses, previews, loads and undoes; the edge may do none of it.

CREATE TABLE uploads (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    person_id uuid NOT NULL,
    person text NOT NULL CHECK (length(person) BETWEEN 1 AND 300),
    file_name text NOT NULL CHECK (length(file_name) BETWEEN 1 AND 200),
    bytes bigint NOT NULL CHECK (bytes >= 0),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    step text NOT NULL DEFAULT 'preview' CHECK (step IN ('preview', 'load', 'undo')),
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'running', 'previewed', 'refused', 'loaded', 'undone', 'cancelled')),
    cancelled boolean NOT NULL DEFAULT false,
    mapping text CHECK (length(mapping) <= 60000),
    attempt integer NOT NULL DEFAULT 0,
    bytes_done bigint NOT NULL DEFAULT 0,
    outcome jsonb,
    error text,
    load_id uuid
);
CREATE INDEX uploads_of_person ON uploads (person_id, id DESC);
CREATE INDEX uploads_waiting ON uploads (id) WHERE state = 'waiting';
COMMENT ON COLUMN uploads.mapping IS 'NULL: to be guessed from the file';
COMMENT ON COLUMN uploads.attempt IS 'counts what was begun with the file: an outcome is written only by the attempt that it is of';

GRANT SELECT, INSERT (id, person_id, person, file_name, bytes), UPDATE (step, state, cancelled, mapping) ON uploads TO itemindex_edge;

ALTER TABLE uploads ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_uploads ON uploads TO itemindex_edge
    USING (person_id = (SELECT context_person())) WITH CHECK (person_id = (SELECT context_person()));
