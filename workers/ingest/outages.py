"""Which errors are an outage of what a load uses, so that it is tried again, and which are its file's fault."""

import psycopg

from shared.db.connect import unavailable
from shared.errors import LoadInterrupted, StoreUnavailable
from workers.ingest.host_faults import is_host_fault

DEATHS_MAX = 3
DIED = (
    f"the process that reads it has ended {DEATHS_MAX} times: the file needs more memory than there is, or a library "
    "cannot read it. Split it, or export it in another form, such as CSV"
)
"""What a file is refused with that so many processes did not survive."""


def is_outage(error: BaseException) -> bool:
    """Return whether PostgreSQL, the object store, a disk or the host is at fault: the same load may succeed later."""
    if isinstance(error, psycopg.Error):
        return unavailable(error)
    return is_host_fault(error) or isinstance(error, StoreUnavailable | LoadInterrupted)
