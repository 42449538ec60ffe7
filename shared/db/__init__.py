"""PostgreSQL, as both tiers see it: SQL text by name, migrations, connections of the sync side."""
