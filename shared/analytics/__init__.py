"""What edge and workers agree on for analytics: results, footprints, exchange rates, outliers."""
