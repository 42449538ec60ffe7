"""Loads: a mapping and files in, one committed data_version out, or nothing."""
