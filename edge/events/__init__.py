"""The log of events, as organizations read it."""
