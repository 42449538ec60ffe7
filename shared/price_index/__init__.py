"""Price index numbers over a panel of items and periods: pure computation on numpy arrays, no input or output."""
