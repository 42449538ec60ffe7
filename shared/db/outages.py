"""Which of PostgreSQL's errors are an outage: the same call may succeed later, and nothing is wrong with it. Pure."""

# Whole classes of SQLSTATE: connection lost, authorization refused, transaction rolled back (serialization, deadlock),
# resources exhausted (disk, connections), broken off by an operator or a time-out, input and output of the server.
_CLASSES = ("08", "28", "40", "53", "57", "58")
# Read-only (a standby, or a primary that was demoted), a session ended for being idle or too slow, a database that is
# not there (yet), a lock that was not granted in time.
_STATES = ("25006", "25P03", "25P04", "3D000", "55P03")
_ROLLED_BACK = "40"
READ_ONLY = "25006"


def is_outage(sqlstate: str | None) -> bool:
    """Return whether an error with this SQLSTATE is PostgreSQL's outage rather than the statement's fault."""
    return sqlstate is not None and (sqlstate[:2] in _CLASSES or sqlstate in _STATES)


def was_rolled_back(sqlstate: str | None) -> bool:
    """Return whether PostgreSQL undid the statement because of another transaction: it may be sent again at once."""
    return sqlstate is not None and sqlstate.startswith(_ROLLED_BACK)
