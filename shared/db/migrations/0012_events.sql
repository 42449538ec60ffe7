-- phase: expand
-- Every change of the index is a numbered event, and what each load claims is kept, so that an event can be undone.

CREATE SEQUENCE event_numbers AS integer;

-- Loads, deletions of observations, merges and withdrawals, numbered in the order in which they committed. Number 0 stands
-- for all that was loaded before events were numbered; it cannot be undone.
CREATE TABLE events (
    no integer PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('load', 'factors', 'deletion', 'merge', 'withdrawal')),
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    load_id uuid REFERENCES loads,
    source_id smallint REFERENCES sources,
    -- What the load's mapping says of its source: title, license, url, attribution, rank.
    terms jsonb,
    item_id bigint,
    survivor_id bigint,
    actor text NOT NULL,
    reason text,
    undone_at timestamptz,
    undone_by text,
    undone_reason text,
    CHECK ((kind = 'merge') = (survivor_id IS NOT NULL)),
    CHECK ((kind IN ('merge', 'withdrawal')) = (item_id IS NOT NULL))
);
CREATE INDEX events_items ON events (no) WHERE item_id IS NOT NULL AND undone_at IS NULL;
CREATE INDEX events_load ON events (load_id);

ALTER TABLE loads DROP CONSTRAINT loads_state_check,
    ADD CONSTRAINT loads_state_check CHECK (state IN ('running', 'committed', 'unchanged', 'failed', 'undone')) NOT VALID;
COMMENT ON COLUMN sources.title IS 'of the newest load that was not undone, as are the other terms';
ALTER TABLE sources ADD COLUMN rank smallint;
COMMENT ON COLUMN sources.rank IS 'which source a field is taken from where several bring it: the lowest; null comes last';

-- What a load says of an item. `first_day` and `as_of` are the first and the last day that it speaks of. No foreign keys: a
-- load has one source and one number, and a check of each row costs more than its insert.
CREATE TABLE item_claims (
    item_id bigint NOT NULL,
    source_id smallint NOT NULL,
    no integer NOT NULL,
    source_item_id text NOT NULL,
    content_hash bigint NOT NULL,
    first_day date NOT NULL,
    as_of date NOT NULL,
    PRIMARY KEY (item_id, source_id, no)
);
-- Rows come in the order of their numbers: a summary of each stretch of pages finds those of one event, and costs nothing.
CREATE INDEX item_claims_no ON item_claims USING brin (no) WITH (pages_per_range = 16, autosummarize = on);

-- The fields of a claim, kept once however many loads repeat them. `impacts`: [{indicator, stage?, per_unit, basis,
-- method}].
CREATE TABLE item_contents (
    item_id bigint NOT NULL,
    content_hash bigint NOT NULL,
    name text,
    alt_names text[] NOT NULL,
    brand_slug text,
    brand_name text,
    category_code text,
    category_path text[],
    product_type text,
    identifiers jsonb NOT NULL,
    attributes jsonb NOT NULL,
    impacts jsonb NOT NULL,
    PRIMARY KEY (item_id, content_hash)
);

-- Which events changed what an item's record shows, and how often; a record's version is their sum.
CREATE TABLE item_changes (
    item_id bigint NOT NULL,
    no integer NOT NULL,
    at timestamptz NOT NULL,
    times integer NOT NULL DEFAULT 1,
    PRIMARY KEY (item_id, no)
);
CREATE INDEX item_changes_no ON item_changes USING brin (no) WITH (pages_per_range = 16, autosummarize = on);

ALTER TABLE observations ADD COLUMN load_no integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN observations.load_no IS 'the event that claimed this value first since it last changed';

-- All other claims of observations: values that a later event replaced, and values that a later event repeated. The claim
-- of the highest number is what holds. A null price: the event says that there is no such observation.
CREATE TABLE observation_claims (
    item_id bigint NOT NULL,
    mark bigint NOT NULL,
    price_minor bigint,
    list_minor bigint,
    day date NOT NULL,
    channel_id integer NOT NULL,
    units integer NOT NULL,
    source_id smallint NOT NULL,
    kind "char" NOT NULL,
    currency character(3) NOT NULL,
    load_no integer NOT NULL,
    PRIMARY KEY (item_id, day, mark, load_no)
);
CREATE INDEX observation_claims_no ON observation_claims USING brin (load_no) WITH (pages_per_range = 16, autosummarize = on);

CREATE TABLE factor_claims (
    no integer NOT NULL REFERENCES events,
    scope text NOT NULL,
    code text NOT NULL,
    indicator text NOT NULL,
    per_kg numeric NOT NULL,
    samples integer NOT NULL,
    method text NOT NULL,
    source_id smallint NOT NULL REFERENCES sources,
    PRIMARY KEY (no, scope, code, indicator)
);

-- Items that are merged or withdrawn, and the active item that all of theirs belongs to; null where none has it. Readers
-- join this small table instead of each observation carrying its owner.
CREATE TABLE inactive_items (item_id bigint PRIMARY KEY, owner_id bigint);
CREATE INDEX inactive_items_owner ON inactive_items (owner_id) WHERE owner_id IS NOT NULL;

-- IIDs that no event brings any more, so that exports of changes can say that they are gone.
CREATE TABLE removed_items (iid text PRIMARY KEY COLLATE "C", item_id bigint NOT NULL, data_version bigint NOT NULL);

ALTER TABLE items ADD COLUMN field_sources jsonb;
COMMENT ON COLUMN items.field_sources IS 'the source of each field; null: all of them come from its only source';
ALTER TABLE item_sources ADD COLUMN first_day date;

GRANT SELECT ON inactive_items TO itemindex_edge, itemindex_worker, itemindex_analytics;
GRANT SELECT ON removed_items TO itemindex_edge, itemindex_worker;
