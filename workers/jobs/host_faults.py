"""Which errors of the operating system are the host's, whatever was read or written. Pure."""

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


def is_host_fault(error: BaseException) -> bool:
    """Return whether a disk, its file system, the network or the host is at fault, and not what was read or written.

    Readers raise errors without a number, or EINVAL, for files that are broken.
    """
    if not isinstance(error, OSError):
        return False
    if isinstance(error, ConnectionError | TimeoutError | socket.gaierror):
        return True
    # A full disk of temporary files is, to `tempfile`, a folder that is not there; it names no file.
    without_folder = error.errno == errno.ENOENT and error.filename is None
    return error.errno in _OUTAGES or without_folder
