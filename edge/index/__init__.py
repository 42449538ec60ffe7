"""The free index: lookup, search, brands."""
