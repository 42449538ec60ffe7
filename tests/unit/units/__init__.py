"""Tests of shared/units."""
