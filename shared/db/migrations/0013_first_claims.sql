-- phase: expand
-- What is in the index already becomes the claims of event 0, so that later loads have something to be compared with.

INSERT INTO events (no, kind, actor, reason) VALUES (0, 'load', 'migration', 'what was loaded before events were numbered');

INSERT INTO item_contents (item_id, content_hash, name, alt_names, brand_slug, brand_name, category_code, category_path,
    product_type, identifiers, attributes, impacts)
SELECT i.id, t.content_hash, i.name, i.alt_names, b.slug, b.name, c.code, c.path, i.product_type, i.identifiers, i.attributes,
       coalesce((SELECT jsonb_agg(to_jsonb(p) - ARRAY['item_id', 'source_id', 'as_of'] ORDER BY p.indicator)
                 FROM impacts p WHERE p.item_id = i.id), '[]')
FROM items i
JOIN LATERAL (SELECT content_hash FROM item_sources t WHERE t.item_id = i.id
              ORDER BY observed_at DESC, source_id DESC LIMIT 1) t ON true
LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id;

-- Of an item of several sources only the last one's fields are known: the others brought nothing that is still there.
INSERT INTO item_contents (item_id, content_hash, alt_names, identifiers, attributes, impacts)
SELECT t.item_id, t.content_hash, '{}', '[]', '{}', '[]' FROM item_sources t ON CONFLICT DO NOTHING;

INSERT INTO item_claims (item_id, source_id, no, source_item_id, content_hash, first_day, as_of)
SELECT t.item_id, t.source_id, 0, t.source_item_id, t.content_hash, i.first_seen_on, (t.observed_at AT TIME ZONE 'UTC')::date
FROM item_sources t JOIN items i ON i.id = t.item_id;
UPDATE item_sources t SET first_day = i.first_seen_on FROM items i WHERE i.id = t.item_id;

INSERT INTO item_changes (item_id, no, at, times)
SELECT id, 0, updated_at, greatest(version - (status <> 'active')::integer, 1) FROM items;

INSERT INTO factor_claims SELECT 0, scope, code, indicator, per_kg, samples, method, source_id FROM impact_factors;

INSERT INTO events (no, kind, at, item_id, survivor_id, actor)
SELECT nextval('event_numbers'), CASE i.status WHEN 'merged' THEN 'merge' ELSE 'withdrawal' END, i.updated_at, i.id, s.id,
       'migration'
FROM items i LEFT JOIN items s ON s.iid = i.survivor_iid WHERE i.status <> 'active' ORDER BY i.updated_at;
INSERT INTO item_changes (item_id, no, at) SELECT item_id, no, at FROM events WHERE no > 0;
INSERT INTO inactive_items (item_id, owner_id)
SELECT i.id, CASE WHEN s.status = 'active' THEN s.id END
FROM items i LEFT JOIN items s ON s.iid = i.survivor_iid WHERE i.status <> 'active';
