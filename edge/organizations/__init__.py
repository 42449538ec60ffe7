"""Organizations at the edge: acts of their people, by program under an ID token or in the dashboard."""
