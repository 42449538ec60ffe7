-- phase: contract
-- The currency becomes part of an observation's identity: workers/ingest/event_identity.py adds these bits to each mark,
-- and so the rows of former loads must have them too, or the next load would bring each of them a second time.

UPDATE observations SET mark = mark # ((
    (ascii(substr(currency, 1, 1)) - 65)::bigint * 676 + (ascii(substr(currency, 2, 1)) - 65) * 26
    + ascii(substr(currency, 3, 1)) - 65 + 1) << 45);

UPDATE observation_claims SET mark = mark # ((
    (ascii(substr(currency, 1, 1)) - 65)::bigint * 676 + (ascii(substr(currency, 2, 1)) - 65) * 26
    + ascii(substr(currency, 3, 1)) - 65 + 1) << 45);
