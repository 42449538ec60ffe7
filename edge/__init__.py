"""The asynchronous HTTP tier: authenticates, authorizes, charges and answers requests."""
