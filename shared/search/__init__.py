"""The search engine: an index of items in immutable segments, and what is found in it; see README.md."""
