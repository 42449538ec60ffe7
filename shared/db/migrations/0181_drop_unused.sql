-- phase: contract
-- What no statement uses: those of uploads that wait ask for running ones as well, files of loads are found by their load, the
-- load of a feed was written and never read, and no search compares trigrams.

DROP INDEX load_files_sha256;
DROP INDEX uploads_waiting;
ALTER TABLE feeds DROP COLUMN load_id;

-- An extension that someone else has installed is left to them.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm' AND pg_has_role(extowner, 'USAGE')) THEN
        DROP EXTENSION pg_trgm;
    END IF;
END $$;
