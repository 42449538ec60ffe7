"""A load: files are read, staged, checked and merged in one transaction, or nothing of them is kept."""
