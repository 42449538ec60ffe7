"""The fast path: lookups, and answers that were given before, without request object, task or future."""
