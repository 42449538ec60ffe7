"""A first mapping guessed from a file: one module for each field."""
