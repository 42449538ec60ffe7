"""The dispatcher: messages for jobs, refunds of what failed, and what is due from time to time."""
