"""The dispatcher: messages for jobs, refunds of failed orders, and periodic maintenance."""
