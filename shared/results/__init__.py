"""Results: how the rows of an answer are written down."""
