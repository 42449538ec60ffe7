"""From job rows to messages, and the periodic maintenance."""
