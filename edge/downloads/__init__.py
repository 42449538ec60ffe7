"""Published results on their way to a caller: whole or in part, never more in memory than one chunk."""
