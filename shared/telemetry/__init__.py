"""Following one request through all parts: W3C trace context, and spans where an operator collects them."""
