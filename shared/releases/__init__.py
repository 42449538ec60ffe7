"""Releases: which datasets there are, what their columns mean, and what a release's files are called."""
