"""Analytics: the reports that organizations pay for, and the rollups that they read."""
