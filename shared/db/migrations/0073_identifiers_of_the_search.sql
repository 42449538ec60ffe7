-- phase: expand
-- The search index says by which rules its identifiers were made, so that edges know which of them it cannot lack.
GRANT SELECT ON identifiers_derived TO itemindex_worker;
