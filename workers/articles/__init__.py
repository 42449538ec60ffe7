"""Which items of several sources are one article: links of the index, kept by loads and undone with them."""
