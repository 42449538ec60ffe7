"""The contract of jobs between both tiers: their kinds, their states, the SQL that makes and reads them."""
