-- name: documents
-- In the order of IIDs, as the index wants them; read by a server-side cursor, so memory stays flat.
SELECT i.iid, i.name, i.alt_names, b.id, b.name, b.slug, i.product_type, c.code, c.path, i.attributes ->> 'description'
FROM items i
LEFT JOIN brands b ON b.id = i.brand_id
LEFT JOIN categories c ON c.id = i.category_id
WHERE i.status = 'active' ORDER BY i.iid;

-- name: count
-- For the progress bar; an estimate would do, but the exact number costs little beside the build.
SELECT count(*) FROM items WHERE status = 'active';

-- name: newest
-- The snapshot's own data_version, whatever the job was made for: the index says what it holds.
SELECT version FROM data_versions ORDER BY version DESC LIMIT 1;
