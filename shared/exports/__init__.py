"""Custom exports as both tiers know them: the choices, the rows as SQL makes them, the manifest."""
