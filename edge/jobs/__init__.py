"""Jobs as their organization sees them: placed, listed, watched, fetched, cancelled."""
