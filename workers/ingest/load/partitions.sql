-- name: months
-- The months that have a partition.
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'observations'::regclass;

-- name: number_equal
-- Equal events of different batches: numbered on, so that each counts. The lowest 16 bits of a mark are the number.
WITH numbered AS (
    SELECT ctid AS row, row_number() OVER (PARTITION BY item_id, day, mark >> 16 ORDER BY mark, ctid) - 1 AS n
    FROM {table})
UPDATE {table} o SET mark = (o.mark >> 16 << 16) | least(numbered.n, 65535)
FROM numbered WHERE o.ctid = numbered.row AND o.mark & 65535 <> numbered.n;

-- name: drop_superseded
-- The same state stated twice in one load: the later row is kept.
DELETE FROM {table} o USING (
    SELECT ctid AS row, row_number() OVER (PARTITION BY item_id, day, mark ORDER BY ctid DESC) AS n
    FROM {table}) d
WHERE o.ctid = d.row AND d.n > 1;
