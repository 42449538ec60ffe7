"""What operators do with organizations, people, plans, jobs, feeds, loads and releases: by commands and by pages."""
