-- name: reader_rank
-- The rank of the plan of the organization that a link was made for; no row where there is no such organization, or it is
-- suspended.
SELECT rank FROM organization_rank($1);
