"""Where batches go: one file of an export in its format, or one immutable file of a release."""
