"""Which errors are an outage of what a load uses, so that it is tried again, and which are its file's fault."""

from shared.errors import LoadInterrupted
from workers.jobs.outages import is_outage

DEATHS_MAX = 3
DIED = (
    f"the process that reads it has ended {DEATHS_MAX} times: the file needs more memory than there is, or a library "
    "cannot read it. Split it, or export it in another form, such as CSV"
)
"""The reason for refusing a file that ended `DEATHS_MAX` processes."""


def is_interruption(error: BaseException) -> bool:
    """Return whether PostgreSQL, the object store, a disk or the host is at fault: the same load may succeed later."""
    return isinstance(error, LoadInterrupted) or is_outage(error)
