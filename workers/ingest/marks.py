"""Marks: what tells one event of a day and channel from another, the same at every load. Pure."""

import hashlib
from typing import Any

import numpy as np


def number_equal(rows: Any) -> None:
    """Give equal events of the batch the numbers 0, 1, 2 …, so that each of them counts."""
    where = (rows["day"].astype("u8") << np.uint64(32)) | rows["channel"].astype("u8")
    keys = mix(mix(rows["item"].astype("u8") ^ mix(where)) ^ rows["mark"].astype("u8"))
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():  # the usual case, found without sorting places
        return
    order = np.argsort(keys, kind="stable")
    same = np.zeros(len(keys), bool)
    same[1:] = keys[order][1:] == keys[order][:-1]
    places = np.arange(len(keys))
    starts = np.maximum.accumulate(np.where(same, 0, places))
    rows["mark"][order] += np.minimum(places - starts, 0xFFFF)


def mix(values: Any) -> Any:
    """Scatter 64-bit integers (the finalizer of splitmix64; Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def hash64(text: str) -> int:
    """Return 64 bits of a text's hash."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
