-- name: articles
-- The active items that answer for items, each with all items that are merged into it; withdrawn ones have none.
SELECT o.iid, o.name, b.name, coalesce(c.path, '{}'),
       array_append((SELECT array_agg(m.item_id) FROM inactive_items m WHERE m.owner_id = o.id), o.id)
FROM (SELECT DISTINCT coalesce(x.owner_id, i.id) AS id FROM items i LEFT JOIN inactive_items x ON x.item_id = i.id
      WHERE i.id = ANY($1::bigint[])) s
JOIN items o ON o.id = s.id AND o.status = 'active'
LEFT JOIN brands b ON b.id = o.brand_id LEFT JOIN categories c ON c.id = o.category_id;
