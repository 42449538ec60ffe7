"""Records on their way up: PostgreSQL, the cache store, the memory of the process."""
