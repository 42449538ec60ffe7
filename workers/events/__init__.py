"""Events: watches that a load evaluates, and webhooks that are delivered."""
