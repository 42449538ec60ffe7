"""HTTP: rules of routes, parameters, problems, pages of lists, and conditional requests."""
