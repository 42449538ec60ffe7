"""Jobs of an organization: submitted, listed, followed, fetched, cancelled."""
