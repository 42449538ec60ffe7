-- name: items
SELECT i.iid, i.name, CASE WHEN i.alt_name <> i.name THEN [i.alt_name] ELSE [] END AS alt_names,
       CASE WHEN i.survivor IS NULL THEN 'active' ELSE 'merged' END AS status, i.survivor AS survivor_iid,
       i.brand AS brand_slug, i.category, i.product_type, i.identifiers, list_sort(map_entries(i.attributes)) AS attributes,
       i.first_seen_on
FROM items i WHERE NOT i.is_withdrawn

-- name: observations
SELECT iid, day, channel, kind, source, currency, price, (price * 10 ** minor(currency))::BIGINT AS price_minor, list_price,
       (list_price * 10 ** minor(currency))::BIGINT AS list_minor, units FROM observations

-- name: impacts
SELECT iid, indicator, value::DOUBLE AS per_unit, basis, method, source, as_of, pedigree, year AS reference_year FROM own_figures

-- name: brands
SELECT a.brand AS slug, count(*) AS item_count, min(a.first_seen_on) AS first_seen_on, coalesce(any_value(t.codes), []) AS top_categories,
       coalesce(any_value(o.channels), []) AS channels
FROM active a LEFT JOIN (SELECT brand, list(DISTINCT channel ORDER BY channel) AS channels FROM observations GROUP BY brand) o USING (brand)
LEFT JOIN (SELECT brand, list(category ORDER BY n DESC, category)[:5] AS codes
           FROM (SELECT brand, category, count(*) AS n FROM active WHERE category IS NOT NULL GROUP BY ALL) GROUP BY brand) t USING (brand)
WHERE a.brand IS NOT NULL GROUP BY a.brand

-- name: categories
SELECT code, nullif(array_to_string(string_split(code, '.')[:-2], '.'), '') AS parent, len(string_split(code, '.')) AS level,
       count(*) FILTER (WHERE code = category) AS item_count
FROM (SELECT category, unnest([array_to_string(string_split(category, '.')[:n], '.')
                               FOR n IN range(1, len(string_split(category, '.')) + 1)]) AS code
      FROM active WHERE category IS NOT NULL)
GROUP BY code
