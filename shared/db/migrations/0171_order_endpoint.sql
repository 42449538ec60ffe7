-- phase: expand
-- The endpoint under which an order's units were counted, so that its refund is counted there too: a report may be
-- ordered by the API, in the dashboard and by a tool of a language model.

ALTER TABLE job_orders ADD COLUMN endpoint text;
