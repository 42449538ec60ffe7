-- name: credentials
-- By id, never by secret: the secret is compared in the process, in constant time. One row has all that a request needs;
-- a key in its grace still counts until it ends.
SELECT credential_id, kind, secret_hash, plan, organization_id, organization_name, seconds_left FROM find_credentials($1);

-- name: rehash
-- The hash under the current pepper, in place of the one under the previous that was just verified.
SELECT credential_id FROM rehash_credential($1, $2, $3);
