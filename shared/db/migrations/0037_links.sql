-- phase: expand
-- Items of several sources that are one article: links between pairs of items, found by loads, and what people decided.

-- A pair of items that are, or may be, one article. Derived from what the sources say of both: a load or an undo that
-- changes one of them finds the pair's link anew. `decision`: `link` is followed at once, `review` waits for a person.
CREATE TABLE links (
    left_id bigint NOT NULL,
    right_id bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('identifier', 'likeness')),
    score double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
    decision text NOT NULL CHECK (decision IN ('link', 'review')),
    evidence jsonb NOT NULL,
    PRIMARY KEY (left_id, right_id),
    CHECK (left_id < right_id)
);
CREATE INDEX links_right ON links (right_id);
CREATE INDEX links_review ON links (score DESC, left_id, right_id) WHERE decision = 'review';
COMMENT ON COLUMN links.evidence IS '[{field, left, right, agrees}]';

-- Items that their own source declares to be one article, by an identifier that its mapping names.
CREATE TABLE declared_articles (item_id bigint PRIMARY KEY, source_id smallint NOT NULL, article text NOT NULL);
CREATE INDEX declared_articles_article ON declared_articles (source_id, article);

ALTER TABLE sources ADD COLUMN matching jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN sources.matching IS 'the [match] section of the source''s mapping: trust, never, own_identifiers, article_identifier';

-- A person's decision on a pair is an event like a merge: `link` says that both are one article, `separation` that they
-- are not. It can be undone.
ALTER TABLE events DROP CONSTRAINT events_kind_check, DROP CONSTRAINT events_check, DROP CONSTRAINT events_check1,
    ADD CONSTRAINT events_kind_check CHECK (
        kind IN ('load', 'factors', 'deletion', 'merge', 'withdrawal', 'link', 'separation')) NOT VALID,
    ADD CONSTRAINT events_pair_check CHECK ((kind IN ('merge', 'link', 'separation')) = (survivor_id IS NOT NULL)) NOT VALID,
    ADD CONSTRAINT events_item_check CHECK (
        (kind IN ('merge', 'withdrawal', 'link', 'separation')) = (item_id IS NOT NULL)) NOT VALID;

GRANT SELECT ON links, declared_articles TO itemindex_edge, itemindex_worker;
