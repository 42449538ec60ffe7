"""The datasets that Institutional plans buy: what is in each, and the rows as SQL makes them."""
