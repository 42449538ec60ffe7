-- phase: expand
-- Which part of data for models an item belongs to. By its IID alone, so that it is the same in every release.

CREATE FUNCTION split_of_item(iid text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN get_byte(sha256(iid::bytea), 0) < 204 THEN 'train'
            WHEN get_byte(sha256(iid::bytea), 0) < 230 THEN 'validation' ELSE 'test' END;
