"""The dashboard: pages for people, served by the edge."""
