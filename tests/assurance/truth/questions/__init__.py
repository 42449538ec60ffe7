"""One module for each group of endpoints: random questions, the answer given, and the answer expected."""
