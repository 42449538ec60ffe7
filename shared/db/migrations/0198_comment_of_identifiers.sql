-- phase: expand
-- The comment names the module that writes identifiers, so that a reader of the schema finds it.

COMMENT ON COLUMN item_identifiers.value IS 'as shared/index/identifiers.py writes it: a gtin has 14 digits';
