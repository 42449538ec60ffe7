"""Redis: keys that both tiers spell alike, URLs, clients of the workers."""
