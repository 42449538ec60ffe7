-- phase: expand
-- Old days of all accounts: the primary key begins with the account. Rows are written day after day, so ranges of blocks do.
CREATE INDEX CONCURRENTLY IF NOT EXISTS usage_day ON usage USING brin (day);
