"""What is derived from the observations: cells of packed arrays, refreshed in the load's own transaction."""
