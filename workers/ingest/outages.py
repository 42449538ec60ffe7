"""Which errors are an outage of what a load uses, so that it is tried again, and which are its file's fault."""

import errno

import psycopg

from shared.db.connect import unavailable
from shared.errors import LoadInterrupted, StoreUnavailable

# What a disk, its file system or the host raises whatever a file has in it. Readers raise errors without a number, or
# EINVAL, for files that are broken.
_OF_THE_HOST = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EROFS,
        errno.ESTALE,
        errno.ENODEV,
        errno.ENXIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EAGAIN,
        errno.ETIMEDOUT,
    )
)

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
    if isinstance(error, OSError):
        return error.errno in _OF_THE_HOST
    return isinstance(error, StoreUnavailable | LoadInterrupted)
