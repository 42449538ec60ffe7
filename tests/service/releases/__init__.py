"""Releases: cut, kept, shared, served."""
