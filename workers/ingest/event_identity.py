"""Marks: what tells one event of a day and channel from another, the same at every load. Pure."""

import hashlib
from typing import Any

import numpy as np


def mix(values: Any) -> Any:
    """Scatter 64-bit integers (the finalizer of splitmix64; Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def hash64(text: str) -> int:
    """Return 64 bits of a text's hash."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
