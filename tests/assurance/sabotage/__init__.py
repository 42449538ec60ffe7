"""Planted faults that must be noticed: each is one change of the product, and the tests or drill that fail with it."""
