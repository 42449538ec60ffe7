"""Releases through nginx, read by the tools that people have."""
