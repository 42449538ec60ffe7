"""Responds to the commonest calls without the framework: from memory, or with one read of PostgreSQL."""
