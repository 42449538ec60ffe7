-- phase: expand
-- The index itself: items and what is known of them, and how it came in.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TABLE loads (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    source text NOT NULL,
    mapping text NOT NULL,
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'committed', 'unchanged', 'failed')),
    rows_read bigint NOT NULL DEFAULT 0,
    rows_rejected bigint NOT NULL DEFAULT 0,
    summary jsonb NOT NULL DEFAULT '{}',
    error text,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
);

CREATE TABLE load_files (
    load_id uuid NOT NULL REFERENCES loads ON DELETE CASCADE,
    name text NOT NULL,
    bytes bigint NOT NULL,
    sha256 bytea NOT NULL,
    PRIMARY KEY (load_id, name)
);
CREATE INDEX load_files_sha256 ON load_files (sha256);

CREATE TABLE rejects (
    load_id uuid NOT NULL REFERENCES loads ON DELETE CASCADE,
    file text NOT NULL,
    line bigint NOT NULL,
    reason text NOT NULL,
    raw text NOT NULL
);
CREATE INDEX rejects_load ON rejects (load_id, file, line);

-- Each committed load makes one; everything that is cached or cut is keyed by it.
CREATE TABLE data_versions (
    version bigint PRIMARY KEY CHECK (version > 0),
    load_id uuid REFERENCES loads,
    committed_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION tell_data_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('data_version', NEW.version::text);
    RETURN NULL;
END $$;
CREATE TRIGGER data_versions_told AFTER INSERT ON data_versions FOR EACH ROW EXECUTE FUNCTION tell_data_version();

CREATE TABLE sources (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    title text NOT NULL,
    license text NOT NULL,
    url text,
    attribution text
);

CREATE TABLE channels (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code text NOT NULL UNIQUE
);

CREATE TABLE brands (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug text NOT NULL UNIQUE,
    name text NOT NULL,
    folded_name text NOT NULL COLLATE "C",
    item_count bigint NOT NULL DEFAULT 0,
    top_categories text[] NOT NULL DEFAULT '{}',
    channels text[] NOT NULL DEFAULT '{}',
    first_seen_on date,
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX brands_folded_name ON brands (folded_name, id);

CREATE TABLE categories (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code text NOT NULL UNIQUE,
    path text[] NOT NULL CHECK (cardinality(path) BETWEEN 1 AND 8)
);

CREATE TABLE items (
    id bigint PRIMARY KEY,
    iid text NOT NULL UNIQUE COLLATE "C",
    name text NOT NULL,
    alt_names text[] NOT NULL DEFAULT '{}',
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'merged', 'withdrawn')),
    survivor_iid text CHECK ((survivor_iid IS NOT NULL) = (status = 'merged')),
    brand_id integer REFERENCES brands,
    category_id integer REFERENCES categories,
    product_type text,
    identifiers jsonb NOT NULL DEFAULT '[]',
    attributes jsonb NOT NULL DEFAULT '{}',
    version integer NOT NULL DEFAULT 1,
    first_seen_on date NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    data_version bigint NOT NULL
);
CREATE INDEX items_brand ON items (brand_id);
CREATE INDEX items_category ON items (category_id);

CREATE TABLE item_sources (
    item_id bigint NOT NULL REFERENCES items,
    source_id smallint NOT NULL REFERENCES sources,
    source_item_id text NOT NULL,
    content_hash bigint NOT NULL,
    observed_at timestamptz NOT NULL,
    PRIMARY KEY (item_id, source_id)
);
CREATE UNIQUE INDEX item_sources_source ON item_sources (source_id, source_item_id);

-- Money is an integer of the currency's minor unit: exact, narrow, and summable in any tool.
-- mark: a hash of what tells one observation of an item's day from another: channel, kind and source for a state of
-- affairs (a later load replaces it), for an event (each sale counts) also price and more, with a running number.
-- No foreign key to items: the load checks it once per batch instead of once per row.
CREATE TABLE observations (
    item_id bigint NOT NULL,
    mark bigint NOT NULL,
    price_minor bigint NOT NULL CHECK (price_minor >= 0),
    list_minor bigint,
    day date NOT NULL,
    channel_id integer NOT NULL,
    units integer NOT NULL DEFAULT 1,
    source_id smallint NOT NULL,
    kind "char" NOT NULL CHECK (kind IN ('l', 's')),
    currency character(3) NOT NULL
) PARTITION BY RANGE (day);
-- What makes an observation the same one: a load that tells it again replaces it or changes nothing.
CREATE UNIQUE INDEX observations_identity ON observations (item_id, day, mark);
COMMENT ON COLUMN observations.kind IS 'l: listing (an offer seen), s: sale';

-- An item's own figures, per unit of it.
CREATE TABLE impacts (
    item_id bigint NOT NULL REFERENCES items,
    indicator text NOT NULL CHECK (indicator IN ('co2e_kg', 'water_l', 'waste_kg')),
    per_unit numeric NOT NULL CHECK (per_unit >= 0),
    basis text NOT NULL CHECK (basis IN ('measured', 'modelled')),
    method text NOT NULL,
    source_id smallint NOT NULL REFERENCES sources,
    as_of date NOT NULL,
    PRIMARY KEY (item_id, indicator)
);

-- What stands in where an item has no figure of its own: per kilogram of a product type or of a category.
CREATE TABLE impact_factors (
    scope text NOT NULL CHECK (scope IN ('product_type', 'category')),
    code text NOT NULL,
    indicator text NOT NULL CHECK (indicator IN ('co2e_kg', 'water_l', 'waste_kg')),
    per_kg numeric NOT NULL CHECK (per_kg >= 0),
    samples integer NOT NULL CHECK (samples > 0),
    method text NOT NULL,
    source_id smallint NOT NULL REFERENCES sources,
    PRIMARY KEY (scope, code, indicator)
);

GRANT SELECT ON data_versions, sources, channels, brands, categories, items, item_sources, observations, impacts, impact_factors
    TO itemindex_edge, itemindex_worker;
