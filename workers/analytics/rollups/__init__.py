"""Data derived from the observations: rollups of packed arrays, refreshed in the load's own transaction."""
