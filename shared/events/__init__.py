"""Event types, conditions of watches, and the secrets and addresses of webhooks."""
