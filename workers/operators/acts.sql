-- name: waiting
-- Whether any of these acts waits.
SELECT EXISTS (SELECT FROM operator_acts WHERE state = 'waiting' AND act = ANY ($1::text[]));

-- name: claim
-- The oldest of these acts that waits. It stays locked until its end is committed together with what it changed, so that
-- nothing is done twice; an outage leaves it waiting.
SELECT id, act, subject, person, arguments FROM operator_acts WHERE state = 'waiting' AND act = ANY ($1::text[])
ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: finish
-- What became of it.
UPDATE operator_acts SET state = $2, detail = $3, outcome = $4, ended_at = clock_timestamp() WHERE id = $1;
