"""Paid reads that the edge answers itself: price history and footprint of one item."""
