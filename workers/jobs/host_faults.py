"""Which errors are a fault of the host: its disks, its network, its limits. Pure."""

import errno
import socket

# What a file system or a network raises while it is unavailable or full. Everything else, such as a path that is too
# long or may not be written, is the same at the next try.
_OUTAGES = frozenset(
    {
        errno.EAGAIN,
        errno.EDQUOT,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.EMFILE,
        errno.ENETDOWN,
        errno.ENETRESET,
        errno.ENETUNREACH,
        errno.ENFILE,
        errno.ENODEV,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.ENOTCONN,
        errno.ENXIO,
        errno.EREMOTEIO,
        errno.EROFS,
        errno.ESTALE,
    }
)
_NO_FOLDER = "No usable temporary directory"


def is_host_fault(error: BaseException) -> bool:
    """Return whether a disk, its file system, the network or the host is at fault, and not what was read or written.

    Readers raise errors without a number, or EINVAL, for files that are broken.
    """
    if not isinstance(error, OSError):
        return False
    if isinstance(error, ConnectionError | TimeoutError | socket.gaierror):
        return True
    # A full disk of temporary files is, to `tempfile`, a folder that is not there. Only the text tells it from Arrow's
    # error of a missing file, which names no file either.
    is_without_folder = error.errno == errno.ENOENT and _NO_FOLDER in (error.strerror or "")
    return error.errno in _OUTAGES or is_without_folder
