-- phase: expand
-- What a plan costs, as pages show it: a text of the operator, who also bills it.

ALTER TABLE plans ADD COLUMN price text CONSTRAINT plans_price_check CHECK (length(price) BETWEEN 1 AND 100);
COMMENT ON COLUMN plans.price IS 'a text for pages, such as 49 EUR a month; null: on request';
