-- phase: expand
-- What items state that they hold, read once from their names and attributes instead of in each report.

-- A row for each unit of which an item states an amount, in the order of `contents` in shared/units/names.py, which alone
-- decides them; an item that states none has one row without a unit. An item without rows has not been read yet, and
-- readers read its name themselves. No foreign key, as in `item_claims`.
CREATE TABLE stated_contents (
    item_id bigint NOT NULL,
    place smallint NOT NULL,
    rule smallint NOT NULL,
    per text COLLATE "C",
    numerator bigint,
    denominator bigint,
    PRIMARY KEY (item_id, place)
);
COMMENT ON COLUMN stated_contents.place IS '0: the first content, which exports state';
COMMENT ON COLUMN stated_contents.rule IS 'the version of the rule that read it: CONTENTS_RULE in shared/units/names.py';
COMMENT ON COLUMN stated_contents.per IS 'kg, l, piece or m; null: the item states no content';
COMMENT ON COLUMN stated_contents.numerator IS 'with the denominator the exact amount of that unit';

-- Up to which data_version every item has been read, and by which rule. Items of later ones, which code without these rows
-- has made, are caught up with before anything else is loaded.
CREATE TABLE contents_derived (rule smallint NOT NULL, data_version bigint NOT NULL);

-- A change of what a content is read from deletes its rows, also one by code that does not know them.
CREATE FUNCTION forget_contents() RETURNS trigger
    LANGUAGE plpgsql SET search_path TO 'pg_catalog', 'public', 'pg_temp' AS $$
BEGIN
    DELETE FROM stated_contents WHERE item_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER items_renamed AFTER UPDATE OF name, attributes ON items FOR EACH ROW
    WHEN (old.name IS DISTINCT FROM new.name OR old.attributes IS DISTINCT FROM new.attributes) EXECUTE FUNCTION forget_contents();
CREATE TRIGGER items_vanished AFTER DELETE ON items FOR EACH ROW EXECUTE FUNCTION forget_contents();

GRANT SELECT ON stated_contents TO itemindex_edge, itemindex_worker, itemindex_analytics;
