"""Results: how the rows of an answer are written, where their bytes are stored, and their manifest."""
