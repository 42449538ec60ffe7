"""The drill: a stack of its own, work of known outcome, and processes killed at random."""
