-- name: progress
-- Up to which data_version, and by which rule, every item has been read; and which data_version is the newest.
SELECT (SELECT rule FROM contents_derived), (SELECT data_version FROM contents_derived),
       (SELECT coalesce(max(version), 0) FROM data_versions);

-- name: forget_progress
-- The table has one row; this makes room for it.
DELETE FROM contents_derived;

-- name: keep_progress
-- After the last items have been read.
INSERT INTO contents_derived (rule, data_version) VALUES ($1, $2);

-- name: unread
-- Items of this data_version or later ones that no reading by the rule $2 is kept of, by their ids, after the id $1.
SELECT i.id AS item_id FROM items i
WHERE i.id > $1::bigint AND i.data_version >= $3::bigint
  AND NOT EXISTS (SELECT FROM stated_contents c WHERE c.item_id = i.id AND c.rule = $2)
ORDER BY i.id LIMIT $4;

-- name: listed
-- Items that are chosen by their ids.
SELECT unnest($1::bigint[]) AS item_id;

-- name: stating
-- What chosen items say that no reading by the rule $1 is kept of; of the attributes only where one of $2 is there.
SELECT i.id, i.name, CASE WHEN i.attributes ?| $2::text[] THEN i.attributes END
FROM reading r JOIN items i ON i.id = r.item_id
WHERE NOT EXISTS (SELECT FROM stated_contents c WHERE c.item_id = i.id AND c.rule = $1);

-- name: forget
-- Readings by another rule.
DELETE FROM stated_contents c USING reading r WHERE c.item_id = r.item_id AND c.rule <> $1;

-- name: stored
-- The readings by the rule $2 of items, 24 bytes a row: item, numerator and denominator, which are 0 where the row is of
-- another unit than $3.
SELECT string_agg(int8send(c.item_id) || int8send(CASE c.per WHEN $3 THEN c.numerator ELSE 0 END)
                  || int8send(CASE c.per WHEN $3 THEN c.denominator ELSE 0 END), ''::bytea)
FROM stated_contents c WHERE c.item_id = ANY($1::bigint[]) AND c.rule = $2;

-- name: stated
-- What items say of their contents; of the attributes only where one of them does.
SELECT id, name, CASE WHEN attributes ?| $2::text[] THEN attributes END FROM items WHERE id = ANY($1::bigint[]);
