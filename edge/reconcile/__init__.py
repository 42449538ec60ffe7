"""The Reconciliation Service API 0.2, by which tools for tables match rows with the index."""
