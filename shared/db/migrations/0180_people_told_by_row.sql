-- phase: expand
-- Each new person, and one who joins twice at once, told all edges to forget whom they know: a trigger of the statement
-- fires for ON CONFLICT DO UPDATE although no row was updated.

CREATE OR REPLACE TRIGGER people_told AFTER DELETE OR UPDATE ON people FOR EACH ROW EXECUTE FUNCTION tell_accounts();
