-- phase: expand
-- The first rows of an uploaded file, beside which its page offers the fields that its columns become.

ALTER TABLE uploads ADD COLUMN sample jsonb;
COMMENT ON COLUMN uploads.sample IS 'the names of its columns and the cells of its first rows, cut to a bounded length';
