"""HTTP as the contract speaks it: rules of routes, problems, traces, conditional requests, the OpenAPI document."""
