"""Quotas: exact, all windows or none, one request to the state store."""
