-- phase: expand
-- The dispatcher deletes what has served its time: answers to requests with an Idempotency-Key after a day, which it cannot
-- read, and invitations that can no longer be accepted, because they hold addresses of people who never joined.

GRANT SELECT (created_at), DELETE ON idempotent_requests, idempotent_organization_requests TO itemindex_worker;
CREATE POLICY worker_idempotent_requests ON idempotent_requests TO itemindex_worker
    USING (created_at <= statement_timestamp() - interval '24 hours');
CREATE POLICY worker_idempotent_organization_requests ON idempotent_organization_requests TO itemindex_worker
    USING (created_at <= statement_timestamp() - interval '24 hours');

GRANT SELECT (accepted_at, revoked_at, expires_at), DELETE ON invitations TO itemindex_worker;
CREATE POLICY worker_invitations ON invitations TO itemindex_worker
    USING (least(accepted_at, revoked_at, expires_at) < statement_timestamp());
