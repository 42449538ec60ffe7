"""Watches of an organization: made, listed, paused, deleted."""
