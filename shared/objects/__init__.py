"""The object store: a directory or an S3 bucket behind one interface."""
