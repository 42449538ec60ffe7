"""The claims of each source about each item: an item's row is made of its claims, and an event can be undone."""
