"""The data itself: custom exports ordered, listed, fetched and ended."""
