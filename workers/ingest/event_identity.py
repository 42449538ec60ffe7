"""Marks, which distinguish observations of one item and day, the same at every load. Pure."""

import hashlib
from typing import Any

import numpy as np

_CURRENCY_SHIFT = 45


def mix(values: Any) -> Any:
    """Scatter 64-bit integers (the finalizer of splitmix64; Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def hash64(text: str) -> int:
    """Return 64 bits of a text's hash."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def currency_bits(currencies: Any) -> Any:
    """Return what a currency (three capital letters, S3) adds to a mark by XOR: 15 bits, another for each currency.

    Simple enough for SQL: migration 0017 adds the same bits to the marks of rows that had none.
    """
    positions = np.ascontiguousarray(currencies).view("u1").reshape(-1, 3).astype("i8") - ord("A")
    return (positions @ np.array([676, 26, 1], "i8") + 1) << _CURRENCY_SHIFT
