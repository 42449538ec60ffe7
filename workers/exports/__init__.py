"""Custom exports: planned into parts, written from one snapshot or release, published by one manifest."""
