"""Feeds and uploads: files that are fetched, collected or sent, and loaded by the service itself."""
