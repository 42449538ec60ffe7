"""The clients that others install, and what writes their types from the OpenAPI document."""
