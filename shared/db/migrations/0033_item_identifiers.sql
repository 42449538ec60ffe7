-- phase: expand
-- Identifiers in the form in which they are compared, so that a barcode finds its item by one index.

-- A row says that a source's newest claim of an item names it so. `item_id` is the item of the claim: a merge or a
-- withdrawal changes no row, because readers follow `inactive_items`. No foreign keys, as in `item_claims`.
CREATE TABLE item_identifiers (
    scheme text NOT NULL COLLATE "C" CHECK (scheme IN ('gtin', 'mpn', 'sku', 'url')),
    value text NOT NULL COLLATE "C",
    item_id bigint NOT NULL,
    source_id smallint NOT NULL,
    brand text NOT NULL DEFAULT '' COLLATE "C",
    load_no integer NOT NULL,
    PRIMARY KEY (scheme, value, item_id, source_id)
);
CREATE INDEX item_identifiers_item ON item_identifiers (item_id);
COMMENT ON COLUMN item_identifiers.value IS 'as shared/identifiers.py writes it: of a gtin 14 digits';
COMMENT ON COLUMN item_identifiers.brand IS 'of an mpn: the brand that the same claim names, as it is compared';
COMMENT ON COLUMN item_identifiers.load_no IS 'the first load whose claim says so and is in effect';

-- Up to which event the rows are derived, and by which version of the rules. Claims of later events, which code without
-- these rows has made, are caught up with before anything else is loaded.
CREATE TABLE identifiers_derived (layout integer NOT NULL, event_no integer NOT NULL);

GRANT SELECT ON item_identifiers TO itemindex_edge, itemindex_worker, itemindex_analytics;
