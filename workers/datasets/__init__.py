"""The data path of exports and releases: a source yields record batches, a writer makes files of them."""
