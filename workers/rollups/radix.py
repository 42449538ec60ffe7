"""Sorting integers of known width: 16 bits at a time, the least first, each pass a counting sort. Pure.

A pass costs the same whatever the order of the values. NumPy's own sort of 64 bits by vector instructions takes twice
to four times as long on some processors, whose compressed stores are slow; nothing here depends on such instructions.
"""

from typing import Any

import numpy as np

_DIGIT_BITS = 16
Array = np.ndarray[Any, np.dtype[Any]]


def order_of(keys: Array, bits: int) -> Array:
    """Return the places that sort keys of so many bits, none of them negative; equal keys stay in their order."""
    order = _digit_order(keys, 0)
    for shift in range(_DIGIT_BITS, bits, _DIGIT_BITS):
        order = order.take(_digit_order(keys.take(order), shift))
    return order


def ascending(keys: Array, bits: int) -> Array:
    """Return keys of so many bits, none of them negative, in ascending order."""
    for shift in range(0, bits, _DIGIT_BITS):
        keys = keys.take(_digit_order(keys, shift))
    return keys


def _digit_order(keys: Array, shift: int) -> Array:
    digits = (keys >> keys.dtype.type(shift)).astype("u2")  # NumPy sorts 16 bits by counting if the sort is stable
    return np.argsort(digits, kind="stable")
