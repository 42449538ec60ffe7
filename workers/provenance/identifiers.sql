-- name: progress
-- Up to which event, and by which version of the rules, the rows are derived; whether there was an event since.
SELECT layout, event_no, event_no < (SELECT max(no) FROM events) FROM identifiers_derived;

-- name: forget_progress
-- The table has one row; this makes room for it.
DELETE FROM identifiers_derived;

-- name: keep_progress
-- In the transaction that wrote the rows. $2: null for the newest event there is.
INSERT INTO identifiers_derived (layout, event_no)
SELECT $1, coalesce($2::integer, (SELECT max(no) FROM events), 0);

-- name: claimed_ever
-- All items of which an event in effect claims something.
SELECT DISTINCT item_id FROM item_claims;

-- name: claimed_since
-- The items of which any event after $1 claims something.
SELECT DISTINCT item_id FROM item_claims WHERE no > $1;

-- name: clear
-- Rows of claims that are not in effect any more.
DELETE FROM item_identifiers t USING identifying i WHERE t.item_id = i.item_id;

-- name: clear_former
-- Likewise those of claims that were replaced.
DELETE FROM former_identifiers t USING identifying i WHERE t.item_id = i.item_id;

-- name: claimed
-- Of each source's item the newest value of each scheme, as the record shows it, with the first load that says so; and of the
-- schemes $2 also those that another value has taken the place of.
SELECT item_id, source_id, scheme, value, brand_name, first_no, is_newest FROM (
    SELECT DISTINCT ON (c.item_id, c.source_id, e.one) c.item_id, c.source_id, e.one ->> 'scheme' AS scheme,
           e.one ->> 'value' AS value, k.brand_name, min(c.no) OVER (PARTITION BY c.item_id, c.source_id, e.one) AS first_no,
           row_number() OVER (PARTITION BY c.item_id, c.source_id, e.one ->> 'scheme' ORDER BY c.as_of DESC, c.no DESC) = 1 AS is_newest
    FROM identifying i JOIN item_claims c USING (item_id) JOIN item_contents k USING (item_id, content_hash),
         jsonb_array_elements(k.identifiers) AS e (one)
    WHERE e.one ->> 'scheme' = ANY($1::text[])
    ORDER BY c.item_id, c.source_id, e.one, c.as_of DESC, c.no DESC) each
WHERE is_newest OR scheme = ANY($2::text[])
ORDER BY item_id, source_id;
