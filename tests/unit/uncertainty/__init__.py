"""Tests of shared/uncertainty."""
