-- phase: expand
-- What an order had cost is taken out of the statistics of use again when it is given back; the relay does both.

GRANT SELECT, INSERT ON usage TO itemindex_worker;
GRANT UPDATE (calls, units) ON usage TO itemindex_worker;
