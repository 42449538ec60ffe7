"""Custom exports: planned into parts, copied out of one snapshot, published by one manifest."""
