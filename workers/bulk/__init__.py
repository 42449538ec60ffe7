"""Bulk data: parts of exports and files of releases, from a source through a codec to a writer."""
