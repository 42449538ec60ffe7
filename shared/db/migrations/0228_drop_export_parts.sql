-- phase: contract
-- A part of an export is a job: only workers of releases before 0216 kept parts here.

DROP TABLE export_parts;
DROP SEQUENCE export_slots;
