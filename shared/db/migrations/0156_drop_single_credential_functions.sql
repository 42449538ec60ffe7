-- phase: contract
-- Edges read credentials by find_credentials alone.

DROP FUNCTION find_api_key(text);
DROP FUNCTION find_public_token(text);
