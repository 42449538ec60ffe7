"""What `itemindex top` shows: two scrapes, what changed between them, and the processes behind it."""
