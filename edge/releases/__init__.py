"""The data itself: datasets, their releases, the files of a release, and Delta Sharing over the same files."""
