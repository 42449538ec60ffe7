"""The reports: one module each, with its parameters, its rows and its declaration."""
