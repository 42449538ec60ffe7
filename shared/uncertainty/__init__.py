"""The width of figures: log-normal intervals, the pedigree matrix, sums and category averages. Pure."""
