"""Watches of organizations, evaluated in the transaction of each load."""
