"""Webhooks of an organization: made, rotated, replayed, deleted."""
