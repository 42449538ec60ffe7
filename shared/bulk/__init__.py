"""What edge and workers agree on for bulk data: tables, requests, manifests."""
