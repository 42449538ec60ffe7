"""The contract between the builder of the search index and its reader: words, fields, values. No I/O."""
