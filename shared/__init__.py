"""What the tiers must agree on: values, SQL, key spellings, settings, names. No web framework, no task queue."""
