"""Believable data at any scale, the same for the same seed."""
