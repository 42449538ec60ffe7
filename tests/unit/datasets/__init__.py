"""Tests of the formats of datasets."""
