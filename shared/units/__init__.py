"""Sizes and quantities in names: read, normalised and compared. Pure."""
