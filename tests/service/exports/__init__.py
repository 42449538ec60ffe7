"""Custom exports."""
