"""Releases: a data_version as immutable Parquet files, kept for its time, deleted when no manifest names them."""
