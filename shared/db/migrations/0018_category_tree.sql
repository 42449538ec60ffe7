-- phase: expand
-- Categories as a tree with counts, so that listing them costs the same however many items there are.

CREATE TABLE category_tree (
    code text NOT NULL PRIMARY KEY COLLATE "C",
    category_id integer NOT NULL REFERENCES categories,
    parent text COLLATE "C",
    level integer NOT NULL,
    item_count bigint NOT NULL,
    item_count_total bigint NOT NULL
);
CREATE INDEX category_tree_parent ON category_tree (parent, code);
COMMENT ON COLUMN category_tree.item_count IS 'active items of the category itself';
COMMENT ON COLUMN category_tree.item_count_total IS 'active items of the category and of all below it';

-- Counted anew as a whole: whatever changed items (a load, an undo, a merge, a withdrawal), the counts cannot drift.
CREATE FUNCTION refresh_category_tree() RETURNS void LANGUAGE sql AS $$
    WITH own AS (
        SELECT category_id, count(*) AS items FROM items
        WHERE status = 'active' AND category_id IS NOT NULL GROUP BY category_id),
    levels AS (
        SELECT string_to_array(c.code, '.') AS names, own.items FROM own JOIN categories c ON c.id = own.category_id),
    counted AS (
        SELECT array_to_string(names[1:n], '.') AS code, nullif(array_to_string(names[1:n - 1], '.'), '') AS parent,
               n AS level, coalesce(sum(items) FILTER (WHERE n = cardinality(names)), 0) AS item_count,
               sum(items) AS item_count_total
        FROM levels, generate_series(1, cardinality(names)) AS n GROUP BY 1, 2, 3),
    emptied AS (DELETE FROM category_tree t WHERE NOT EXISTS (SELECT FROM counted n WHERE n.code = t.code COLLATE "default"))
    INSERT INTO category_tree AS t (code, category_id, parent, level, item_count, item_count_total)
    SELECT n.code, c.id, n.parent, n.level, n.item_count, n.item_count_total
    FROM counted n JOIN categories c ON c.code = n.code
    ON CONFLICT (code) DO UPDATE SET item_count = excluded.item_count, item_count_total = excluded.item_count_total
    WHERE (t.item_count, t.item_count_total) <> (excluded.item_count, excluded.item_count_total)
$$;

-- At the commit, when the items of the new data_version are what they will be.
CREATE FUNCTION category_tree_of_data_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM refresh_category_tree();
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER data_versions_category_tree AFTER INSERT ON data_versions
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION category_tree_of_data_version();
SELECT refresh_category_tree();

GRANT SELECT ON category_tree TO itemindex_edge, itemindex_worker;
