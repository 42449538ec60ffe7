"""Builds the search index of a data_version."""
