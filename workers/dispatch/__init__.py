"""From a job row to a message, and the maintenance that is due from time to time."""
