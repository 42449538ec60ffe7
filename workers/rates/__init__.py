"""Tables of exchange rates: read from central banks' files and loaded as numbered events."""
