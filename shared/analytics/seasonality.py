"""What a seasonal pattern needs, as both tiers know it."""

MONTHS = 12
CHANGES_LEAST = 2 * MONTHS - 1
"""The changes between the months of two whole years."""
