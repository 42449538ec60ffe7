"""The Model Context Protocol: tools for language models, each of them a call of the API."""
