"""The Delta Sharing protocol over the same releases."""
