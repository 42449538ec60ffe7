"""Bulk data: custom exports, released datasets, downloads and Delta Sharing."""
