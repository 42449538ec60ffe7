"""Exchange rates of the European Central Bank: its files, and a load of them, which can be undone like any other."""
