"""Which errors of the operating system are the host's, whatever a file has in it. Pure."""

import errno

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


def is_host_fault(error: BaseException) -> bool:
    """Return whether a disk, its file system or the host is at fault, and not the file that was read."""
    return isinstance(error, OSError) and error.errno in _OF_THE_HOST
