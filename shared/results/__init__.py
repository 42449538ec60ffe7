"""Results: how the rows of an answer are written down, where the bytes lie, and what is published of them."""
