"""Custom exports as both tiers know them: what may be asked for, the rows as SQL makes them, the manifest."""
