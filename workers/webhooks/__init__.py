"""Sends the log of events to webhooks."""
