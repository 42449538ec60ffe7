"""Measurements that need a checkout: search quality and speed, sizing. Not part of the installed package."""
