"""Connections to PostgreSQL and Redis: one deadline per call, one error for every outage."""
