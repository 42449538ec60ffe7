-- phase: expand
-- Usage statistics are deleted when their retention ends.
GRANT DELETE ON usage TO itemindex_worker;
