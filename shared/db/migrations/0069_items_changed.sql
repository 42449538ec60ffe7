-- phase: expand
-- items.data_version says when an item last changed for readers: the search index and exports of changes follow it. It moves
-- with whatever a reader sees of an item, be it by a statement that does not set it, and with its brand's or category's name.

CREATE FUNCTION date_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD.name, OLD.alt_names, OLD.brand_id, OLD.category_id, OLD.product_type, OLD.attributes, OLD.status)
        IS DISTINCT FROM (NEW.name, NEW.alt_names, NEW.brand_id, NEW.category_id, NEW.product_type, NEW.attributes, NEW.status) THEN
        NEW.data_version := coalesce((SELECT max(version) FROM data_versions), 0) + 1;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER items_dated BEFORE UPDATE ON items FOR EACH ROW
    WHEN (OLD.data_version = NEW.data_version) EXECUTE FUNCTION date_item();

CREATE FUNCTION date_items_of_brand() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE items SET data_version = coalesce((SELECT max(version) FROM data_versions), 0) + 1 WHERE brand_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER brands_dated AFTER UPDATE OF name ON brands FOR EACH ROW
    WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION date_items_of_brand();

CREATE FUNCTION date_items_of_category() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE items SET data_version = coalesce((SELECT max(version) FROM data_versions), 0) + 1 WHERE category_id = NEW.id;
    RETURN NULL;
END $$;

CREATE TRIGGER categories_dated AFTER UPDATE OF path ON categories FOR EACH ROW
    WHEN (OLD.path IS DISTINCT FROM NEW.path) EXECUTE FUNCTION date_items_of_category();
