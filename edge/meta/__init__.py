"""Descriptions of the service: health, the contract, the docs, the catalogue of problems."""
