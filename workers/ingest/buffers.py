"""How much of a file a load holds in memory at once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadBuffers:
    """Bounds of a load's memory, whatever the size of the file and the order of its rows."""

    block_bytes: int = 16 * 1024 * 1024
    """Bytes of a CSV file that are parsed at once."""
    kept_bytes: int = 48 * 1024 * 1024
    """Bytes of observations that wait for others of their month."""
    chunk_rows: int = 65_536
    """Observations that are written at once."""


DEFAULT_BUFFERS = LoadBuffers()
