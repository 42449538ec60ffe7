-- name: known
-- Is the answer there for this snapshot, is it there in another format ($4: those fingerprints), until when has this
-- organization paid for it in any, does it wait for it already, and has the answer no rows, so that it is free? One row in
-- any case. The times are seconds since 1970; a result counts as gone a minute before it expires.
WITH alike AS (
    SELECT id, fingerprint, result, finished_at, rows_total,
           extract(epoch FROM expires_at - interval '1 minute')::float8 AS until FROM jobs
    WHERE kind = $1 AND fingerprint = ANY ($4::text[]) AND state = 'succeeded' AND missing_since IS NULL
      AND expires_at > statement_timestamp() + interval '1 minute'),
there AS (SELECT id, result, until FROM alike WHERE fingerprint = $2 ORDER BY finished_at DESC LIMIT 1)
SELECT (SELECT id::text FROM there) AS job_id, (SELECT result FROM there) AS result,
       (SELECT until FROM there) AS until,
       EXISTS (SELECT FROM alike) AS stored, EXISTS (SELECT FROM alike WHERE rows_total = 0) AS empty,
       (SELECT max(alike.until) FROM job_orders o JOIN alike ON alike.id = o.job_id
        WHERE o.organization_id = $3 AND o.cancelled_at IS NULL) AS paid_until,
       EXISTS (SELECT FROM job_orders o JOIN jobs j ON j.id = o.job_id
               WHERE o.organization_id = $3 AND o.cancelled_at IS NULL AND j.kind = $1 AND j.fingerprint = $2
                 AND j.state IN ('queued', 'running')) AS waiting;

-- name: unknown_names
-- Names of a question that are not in the index; a category is known by itself or by one below it.
SELECT ARRAY(SELECT slug FROM unnest($1::text[]) slug WHERE NOT EXISTS (SELECT FROM brands b WHERE b.slug = slug.slug)) AS brands,
       ARRAY(SELECT code FROM unnest($2::text[]) code
             WHERE NOT EXISTS (SELECT FROM categories c WHERE c.code = code.code OR starts_with(c.code, code.code || '.'))) AS categories,
       ARRAY(SELECT code FROM unnest($3::text[]) code WHERE NOT EXISTS (SELECT FROM channels c WHERE c.code = code.code)) AS channels;

-- name: names
-- What people call the brands, categories and items of a result's rows, by their slugs, codes and ids.
SELECT 'brand' AS kind, slug AS key, name FROM brands WHERE slug = ANY ($1::text[])
UNION ALL
SELECT 'category', t.code, array_to_string(c.path[greatest(1, cardinality(c.path) - 1):], ' › ')
FROM category_tree t JOIN categories c ON c.id = t.category_id WHERE t.code = ANY ($2::text[])
UNION ALL
SELECT 'iid', iid, name FROM items WHERE iid = ANY ($3::text[]);
