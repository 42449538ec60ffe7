"""What both tiers must agree on about jobs: their kinds, their states, the SQL that makes and reads them."""
