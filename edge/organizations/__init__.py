"""Organizations at the edge: what their people do there, by program under an ID token or by hand in the dashboard."""
