"""The fast path: look-ups, and answers that were given before, without request object, task or future."""
