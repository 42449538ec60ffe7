"""Releases: a data_version cut as immutable Parquet, kept for its time, and swept when no manifest names it."""
