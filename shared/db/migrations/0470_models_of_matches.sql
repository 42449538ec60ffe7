-- phase: expand
-- Operators see the models of matching and which one is in force; the edge reads no model itself, and of events' terms
-- only which model was chosen.
CREATE VIEW match_model_choices AS
    SELECT no, at, actor, terms ->> 'digest' AS digest FROM events WHERE kind = 'model' AND undone_at IS NULL;
COMMENT ON VIEW match_model_choices IS 'choices of a model that were not undone; the newest is in force';
GRANT SELECT ON match_model_choices TO itemindex_edge;
GRANT SELECT (digest, trained_on, bounds, created_at, created_by) ON match_models TO itemindex_edge;
