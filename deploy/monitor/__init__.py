"""The content of `itemindex top`: two scrapes, what changed between them, and the processes behind it."""
