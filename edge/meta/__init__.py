"""What the service says about itself: health, the contract, the docs, the catalogue of problems."""
