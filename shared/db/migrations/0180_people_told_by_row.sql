-- phase: expand
-- Edges drop their cached persons on this notification. A statement trigger fires for INSERT ... ON CONFLICT DO UPDATE even
-- if no row was updated; a row trigger does not.

CREATE OR REPLACE TRIGGER people_told AFTER DELETE OR UPDATE ON people FOR EACH ROW EXECUTE FUNCTION tell_accounts();
