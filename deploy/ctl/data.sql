-- name: any_data_version
-- The demo is loaded into an index that never had any data: afterwards a start must not bring it back.
SELECT 1 FROM data_versions LIMIT 1;

-- name: newest_data_version
-- Zero for an index without data.
SELECT coalesce(max(version), 0) FROM data_versions;

-- name: is_read_only
-- A standby, or a primary with default_transaction_read_only, answers queries and refuses every load and order.
SELECT current_setting('transaction_read_only')::boolean;

-- name: waiting_review
-- Whether a decision of the dashboard waits to become an event.
SELECT 1 FROM match_reviews WHERE applied_at IS NULL LIMIT 1;

-- name: rollup_counts
-- How many rows the reports' aggregates have, and how many months they cover.
SELECT count(*), count(DISTINCT month) FROM month_cells;
