"""HTTP: rules of routes, parameters, problems, pages of lists, conditional requests, signed URLs."""
