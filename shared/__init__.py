"""The contract between the tiers: values, SQL, names of keys, settings. No web framework, no task queue."""
