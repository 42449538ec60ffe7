-- phase: expand
-- What operators decide of pairs in the dashboard. The edge may not change items: it notes the decision here, and
-- `itemindex matches apply`, which runs as the owner, makes events of all that wait, in one data_version.

CREATE TABLE match_reviews (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    left_id bigint NOT NULL,
    right_id bigint NOT NULL,
    decision text NOT NULL CHECK (decision IN ('accept', 'reject', 'undo')),
    person_id uuid NOT NULL,
    person text NOT NULL CHECK (length(person) BETWEEN 1 AND 300),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    applied_at timestamptz,
    event_no integer,
    CHECK (left_id < right_id)
);
CREATE INDEX match_reviews_pair ON match_reviews (left_id, right_id, id DESC);
CREATE INDEX match_reviews_waiting ON match_reviews (id) WHERE applied_at IS NULL;
COMMENT ON COLUMN match_reviews.event_no IS 'the event that the decision became, or that it undid';

-- Only the operators' queue reads these; nobody but the owner writes events.
GRANT SELECT, INSERT (left_id, right_id, decision, person_id, person) ON match_reviews TO itemindex_edge;
GRANT SELECT (no, kind, at, item_id, survivor_id, undone_at) ON events TO itemindex_edge;
GRANT SELECT ON item_contents, item_claims TO itemindex_edge;

ALTER TABLE match_reviews ENABLE ROW LEVEL SECURITY;
CREATE POLICY edge_match_reviews ON match_reviews FOR SELECT TO itemindex_edge USING (true);
CREATE POLICY edge_match_reviews_own ON match_reviews FOR INSERT TO itemindex_edge
    WITH CHECK (person_id = (SELECT context_person()));
