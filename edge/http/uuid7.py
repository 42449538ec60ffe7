"""UUID version 7 (RFC 9562, section 5.7), which Python's standard library has only from 3.14 on."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """Return a time-ordered UUID: 48 bits of milliseconds, the rest random."""
    milliseconds = time.time_ns() // 1_000_000
    value = milliseconds << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)
