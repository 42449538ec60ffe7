-- phase: expand
-- Workers match a caller's rows as loads match theirs: they read what sources claim of items, and the model in use.

GRANT SELECT ON item_claims, item_contents, match_models TO itemindex_worker;
GRANT SELECT (terms) ON events TO itemindex_worker;
