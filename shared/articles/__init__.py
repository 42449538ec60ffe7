"""Pairs of items that wait for a person, as the command line and the dashboard read them."""
