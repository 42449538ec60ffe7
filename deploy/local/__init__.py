"""The embedded stack: real servers from wheels, as supervised children of one process."""
