"""What the builder of the search index and its reader must agree on: words, fields, values. No I/O."""
