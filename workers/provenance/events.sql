-- name: lock
-- Events run one after the other: two that merge the same items at once would wait for each other's rows for ever.
SELECT pg_advisory_lock(398147225);

-- name: source
-- The newest title and terms are the valid ones. Under the lock, so no one else inserts the name in between. ON CONFLICT
-- would draw a number in each load of a known source, and there are 32,767. A new source has the number after the last
-- one, which the sequence follows: a load that is rolled back, as a dry run is, uses none up.
WITH known AS (
    UPDATE sources SET title = $2, license = $3, url = $4, attribution = $5, rank = $6, matching = $7 WHERE name = $1
    RETURNING id, old.rank IS DISTINCT FROM new.rank AS other_rank,
        (old.title, old.license, old.url, old.attribution, old.rank, old.matching)
            IS DISTINCT FROM (new.title, new.license, new.url, new.attribution, new.rank, new.matching) AS other_terms,
        old.matching <> new.matching AS other_matching),
added AS (
    INSERT INTO sources (id, name, title, license, url, attribution, rank, matching) OVERRIDING SYSTEM VALUE
    SELECT setval('sources_id_seq', (SELECT coalesce(max(id), 0) + 1 FROM sources)), $1, $2, $3, $4, $5, $6, $7
    WHERE NOT EXISTS (SELECT FROM known)
    RETURNING id)
SELECT id, other_rank, other_terms, other_matching FROM known UNION ALL SELECT id, false, false, false FROM added;

-- name: begin
-- Under the lock, so numbers are in the order of commits; an event that fails leaves a gap.
INSERT INTO events (no, kind, actor, reason, load_id, source_id, terms, item_id, survivor_id, part_of)
VALUES (nextval('event_numbers'), $1, $2, $3, $4::uuid, $5, $6, $7, $8, $9) RETURNING no, at;

-- name: begin_parts
-- The decisions on pairs that one bulk decision makes. $1: its number; $2, $3, $4: both items, and whether they are one.
INSERT INTO events (no, kind, item_id, survivor_id, actor, reason, part_of)
SELECT nextval('event_numbers'), CASE WHEN n.same THEN 'link' ELSE 'separation' END, n.left_id, n.right_id, e.actor, e.reason, e.no
FROM unnest($2::bigint[], $3::bigint[], $4::boolean[]) AS n (left_id, right_id, same), events e WHERE e.no = $1;

-- name: next_version
-- The number that this event will have made if it changes anything.
SELECT coalesce(max(version), 0) + 1 FROM data_versions;

-- name: new_version
-- Serial by the lock; edges hear of it by the table's trigger when the event commits. $2: the months in which it changed
-- observations, so that "what changed since" can leave out the others.
INSERT INTO data_versions (version, load_id, months) SELECT coalesce(max(version), 0) + 1, $1::uuid, $2::date[] FROM data_versions
RETURNING version;
