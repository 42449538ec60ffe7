"""The sync tier: heavy work with a lease, and the loads that fill the index."""
