"""Connections to the stores, each with one deadline and one error."""
