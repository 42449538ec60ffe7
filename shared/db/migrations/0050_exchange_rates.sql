-- phase: expand
-- Exchange rates of named tables, as sources publish them: what amounts are converted by, where a caller asks for it.

-- Every load keeps its rates, so that undoing it gives back those before.
CREATE TABLE exchange_rates (
    source_id smallint NOT NULL REFERENCES sources,
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    day date NOT NULL,
    no integer NOT NULL REFERENCES events,
    per_euro numeric NOT NULL CHECK (per_euro > 0),
    PRIMARY KEY (source_id, currency, day, no)
);
COMMENT ON TABLE exchange_rates IS 'units of a currency for one euro on a day, as a load (no) gave them';
CREATE INDEX exchange_rates_no ON exchange_rates USING brin (no);

-- The newest load that was not undone has the rate of a day.
CREATE VIEW rates_in_force AS
SELECT DISTINCT ON (s.name, r.currency, r.day) s.name AS rates, r.currency, r.day, r.per_euro
FROM exchange_rates r JOIN sources s ON s.id = r.source_id JOIN events e ON e.no = r.no
WHERE e.undone_at IS NULL
ORDER BY s.name, r.currency, r.day, r.no DESC;

ALTER TABLE events DROP CONSTRAINT events_kind_check, ADD CONSTRAINT events_kind_check CHECK (
    kind IN ('load', 'factors', 'rates', 'deletion', 'merge', 'withdrawal', 'link', 'separation')) NOT VALID;

GRANT SELECT ON rates_in_force TO itemindex_edge, itemindex_worker, itemindex_analytics;
GRANT SELECT ON sources TO itemindex_analytics;
