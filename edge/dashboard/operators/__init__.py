"""The operator's console: what waits for a decision, accounts, loads, jobs, releases and health."""
