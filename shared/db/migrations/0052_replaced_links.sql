-- phase: expand
-- What an event replaced among links, so that undoing the event gives it back: likeness is judged among all records that
-- there are, and could come out otherwise when it is judged again.

ALTER TABLE links ADD COLUMN no integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN links.no IS 'the event that found the link as it is';

CREATE TABLE replaced_links (
    no integer NOT NULL,
    left_id bigint NOT NULL,
    right_id bigint NOT NULL,
    kind text,
    score double precision,
    decision text,
    evidence jsonb,
    link_no integer,
    PRIMARY KEY (no, left_id, right_id)
);
COMMENT ON COLUMN replaced_links.kind IS 'null: the pair had no link';
CREATE INDEX replaced_links_pair ON replaced_links (left_id, right_id, no);
