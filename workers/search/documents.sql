-- name: documents
-- Everything that the index of items needs of an item, in the order of IIDs, in which documents must come.
SELECT i.iid, i.name, i.alt_names, b.id, b.name, b.slug, i.product_type, c.code, c.path, i.attributes ->> 'description'
FROM items i
LEFT JOIN brands b ON b.id = i.brand_id
LEFT JOIN categories c ON c.id = i.category_id
WHERE i.status = 'active'
ORDER BY i.iid;

-- name: documents_total
-- For the progress of a build.
SELECT count(*) FROM items WHERE status = 'active';

-- name: newest_version
-- What a snapshot of the items is called; read in the same snapshot as they.
SELECT version FROM data_versions ORDER BY version DESC LIMIT 1;
