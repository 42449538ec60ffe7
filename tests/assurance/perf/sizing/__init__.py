"""From measured costs and a load to the machines that it needs."""
