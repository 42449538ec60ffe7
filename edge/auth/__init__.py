"""Authentication: credentials, the people behind ID tokens, the identity provider."""
