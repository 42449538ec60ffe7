"""The stores: whole or absent, whatever happens to the writer."""
