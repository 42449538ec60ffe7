-- name: issue_token
-- The secret is stored as its keyed hash only: no later command can print it.
INSERT INTO public_tokens (token_id, secret_hash, label) VALUES ($1, $2, $3);

-- name: tokens
-- Every public token ever issued, the oldest first, with what it was issued for.
SELECT token_id AS id, label, created_at, revoked_at FROM public_tokens ORDER BY created_at;

-- name: revoke_token
-- Nothing is returned for a token that is unknown or was revoked before: the command must not claim to have revoked it.
UPDATE public_tokens SET revoked_at = now() WHERE token_id = $1 AND revoked_at IS NULL RETURNING 1;

-- name: people
-- Ids are UUIDs of version 7, so this is the order in which people first signed in.
SELECT id::text, name, email, issuer, created_at FROM people ORDER BY id;

-- name: people_called
-- By id or e-mail address. Two people may share an address at two identity providers, so the caller counts the rows.
SELECT id::text FROM people WHERE id::text = $1 OR lower(email) = lower($1);

-- name: organizations
-- Ids are UUIDs of version 7, so this is the order in which they were created.
SELECT id::text, name, plan, state, created_at FROM organizations ORDER BY id;

-- name: organizations_called
-- By id or name. Names are not unique, so the caller counts the rows.
SELECT id::text FROM organizations WHERE id::text = lower($1) OR lower(name) = lower($1) ORDER BY id;

-- name: keys_not_used_since
-- Working keys whose hash is still under the former pepper: it is stored anew when a key is used.
SELECT k.key_id AS key, o.name AS organization, k.created_at, k.last_used_at FROM api_keys k JOIN organizations o ON o.id = k.organization_id
WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
  AND k.created_at < $1::timestamp AT TIME ZONE 'UTC'
  AND (k.last_used_at IS NULL OR k.last_used_at < $1::timestamp AT TIME ZONE 'UTC') ORDER BY k.key_id;

-- name: logins_of_role
-- A role of this service is granted to logins that are rotated; a login's own name is in pg_roles.
SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member
WHERE m.roleid = (SELECT oid FROM pg_roles WHERE rolname = $1);

-- name: connections_of_login
-- A login with open connections must not be retired or given another password: its processes could not reconnect.
SELECT count(*) FROM pg_stat_activity WHERE usename = $1;
