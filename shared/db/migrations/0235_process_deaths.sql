-- phase: expand
-- What ends the process that reads it, such as a file that a parser does not survive, would be begun again for ever.
-- An attempt whose process noted no end is counted, unless PostgreSQL itself was restarted meanwhile.

ALTER TABLE uploads ADD COLUMN begun_by uuid, ADD COLUMN begun_at timestamptz, ADD COLUMN deaths integer NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN begun_by uuid, ADD COLUMN begun_at timestamptz, ADD COLUMN begun_sha256 bytea,
    ADD COLUMN deaths integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN uploads.begun_by IS 'the process that is at work on it; NULL when it has noted an end';
COMMENT ON COLUMN uploads.deaths IS 'how many processes have died at work on it';
COMMENT ON COLUMN feeds.begun_by IS 'the process that is loading it; NULL when it has noted an end';
COMMENT ON COLUMN feeds.deaths IS 'how many processes have died while they loaded the file of begun_sha256';
