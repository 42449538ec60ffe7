-- phase: expand
-- GTINs that items had and have no more, so that a number that is given anew is resolved by date.

-- A row says that a source stated the number of an item in some load, and states another one now. When that was is read from
-- the claims (shared/index/holdings.sql). Few items change their number. No foreign keys, as in `item_claims`.
CREATE TABLE former_identifiers (
    scheme text NOT NULL COLLATE "C" CHECK (scheme = 'gtin'),
    value text NOT NULL COLLATE "C",
    item_id bigint NOT NULL,
    source_id smallint NOT NULL,
    PRIMARY KEY (scheme, value, item_id, source_id)
);
CREATE INDEX former_identifiers_item ON former_identifiers (item_id);
COMMENT ON TABLE former_identifiers IS 'derived from item_claims together with item_identifiers';
GRANT SELECT ON former_identifiers TO itemindex_edge;
