-- phase: expand
-- Comments of columns in the words of deploy/docs/glossary.md.

COMMENT ON COLUMN event_log.once IS 'key under which an organization gets this event once; null: no such bound';
COMMENT ON TABLE exchange_rates IS 'units of a currency for one euro on a day, as the load `no` stated them';
COMMENT ON COLUMN inactive_items.data_version IS 'the first data_version with the present owner; 0: not known, the item is older than this column';
COMMENT ON COLUMN item_identifiers.value IS 'as shared/identifiers.py writes it: a gtin has 14 digits';
COMMENT ON COLUMN item_identifiers.brand IS 'for an mpn: the brand of the same claim, as it is compared';
COMMENT ON COLUMN item_identifiers.load_no IS 'the first load with this claim that is in effect';
COMMENT ON COLUMN jobs.missing_since IS 'since when the object store lacks the published bytes; null: it has them';
COMMENT ON COLUMN links.no IS 'the event that left the link in this state';
COMMENT ON COLUMN month_cells.kind IS 'l: listings (offers seen), s: sales; L, S: the same, set aside as outliers';
COMMENT ON COLUMN month_cells.channels IS 'one entry for each channel: channel, observations, items, units';
COMMENT ON COLUMN month_cells.entries IS 'one entry for each observation: price, position of the item in item_ids, the other of brand and category, day, channel, units, list price or 0';
COMMENT ON COLUMN month_cells.item_prices IS 'one entry for each item: item, price (bits of a double, minor units), units sold; sales: unit value, listings: geometric mean and no units';
COMMENT ON COLUMN sources.title IS 'as the newest load in effect states it, like the other terms';
COMMENT ON COLUMN sources.rank IS 'a field that several sources have is taken from the lowest rank; null comes last';
COMMENT ON TABLE watch_states IS 'the last report of each watch on each article; no row: none yet, so the watch is armed';
COMMENT ON COLUMN webhook_endpoints.position IS 'number of the last event that was accepted, or that is not for this endpoint';
