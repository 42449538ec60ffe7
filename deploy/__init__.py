"""How it is run: the operator's command line, the embedded stack, the demo. Nothing imports it."""
