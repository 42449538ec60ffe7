-- phase: expand
-- Models of likeness that an operator trained, and decisions on many pairs at once.

-- Which one is in use is said by the newest event of kind `model` that was not undone; without one it is the shipped model.
CREATE TABLE match_models (
    digest text PRIMARY KEY CHECK (digest ~ '^[0-9a-f]{64}$'),
    model bytea NOT NULL,
    trained_on jsonb NOT NULL,
    bounds jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    created_by text NOT NULL
);
COMMENT ON COLUMN match_models.trained_on IS '{decisions, matches, candidates, file, measured: [{bound, precision, recall, …}]}';

-- `decisions` is one bulk decision on many pairs: its links and separations are events of their own, which name it in `part_of`.
ALTER TABLE events ADD COLUMN part_of integer;
COMMENT ON COLUMN events.part_of IS 'the bulk decision that this decision on a pair is part of';
ALTER TABLE events DROP CONSTRAINT events_kind_check,
    ADD CONSTRAINT events_kind_check CHECK (kind IN (
        'load', 'factors', 'rates', 'deletion', 'merge', 'withdrawal', 'link', 'separation', 'model', 'decisions')) NOT VALID;

-- In the dashboard: `sample_id` marks the decisions on a random sample, `batch_id` those that a bulk decision made.
ALTER TABLE match_reviews ADD COLUMN sample_id uuid, ADD COLUMN batch_id uuid, ADD COLUMN batch jsonb;
COMMENT ON COLUMN match_reviews.batch IS 'the filters of the bulk decision';
GRANT INSERT (sample_id, batch_id, batch) ON match_reviews TO itemindex_edge;
