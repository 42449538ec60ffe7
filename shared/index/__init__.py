"""What identifies an item: IIDs, identifiers of its sources, slugs."""
