-- phase: expand
-- `itemindex matches apply --watch` hears of decisions in the dashboard when they are committed.

CREATE FUNCTION tell_match_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('match_reviews', '');
    RETURN NULL;
END $$;
CREATE TRIGGER match_reviews_told AFTER INSERT ON match_reviews FOR EACH STATEMENT EXECUTE FUNCTION tell_match_reviews();
