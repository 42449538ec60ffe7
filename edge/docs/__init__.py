"""What people and programs read about the API: pages, guides, problem types, the OpenAPI document."""
