-- phase: expand
-- What a person must decide of a guessed mapping, beside its text. NULL: none, or the text has them as comments.

ALTER TABLE uploads ADD COLUMN doubts jsonb;
GRANT UPDATE (doubts) ON uploads TO itemindex_edge;
