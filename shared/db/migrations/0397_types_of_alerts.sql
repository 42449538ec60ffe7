-- phase: contract
-- Members who asked an edge of the release before for alerts while 0395 was in place.

UPDATE webhook_endpoints SET types = ARRAY['watch.fired'] WHERE person_id IS NOT NULL AND types <> ARRAY['watch.fired'];
