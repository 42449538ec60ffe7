"""IIDs of many items at once, as `shared.ids.mint` makes each: a load mints one for every item that it meets. Pure."""

import hashlib
from typing import Any

import numpy as np

from shared.ids import CHECK_WEIGHTS, CROCKFORD, MINTED_DIGITS

_ALPHABET = np.frombuffer(CROCKFORD.encode(), "u1")
_WEIGHTS = np.array(CHECK_WEIGHTS, "i4")
_FORM = np.frombuffer(b"IID-.....-.....-.....", "u1")
_PLACES = np.flatnonzero(ord(".") == _FORM)
_DIGEST_BYTES = 9


def mint_all(source: str, source_ids: list[str]) -> tuple[list[str], Any]:
    """Return the IIDs of a source's items and their keys (int64), in the order of the ids."""
    begun = hashlib.blake2b(source.encode() + b"\0", digest_size=_DIGEST_BYTES)

    def digest(source_id: str) -> bytes:
        one = begun.copy()
        one.update(source_id.encode())
        return one.digest()

    digests = np.frombuffer(b"".join(map(digest, source_ids)), "u1").reshape(-1, _DIGEST_BYTES)
    bits = np.unpackbits(digests, axis=1)[:, : 5 * MINTED_DIGITS].reshape(-1, 5)
    digits = (np.packbits(bits, axis=1) >> 3).reshape(-1, MINTED_DIGITS)
    written = np.tile(_FORM, (len(digits), 1))
    written[:, _PLACES[:-1]] = _ALPHABET.take(digits)
    written[:, _PLACES[-1]] = _ALPHABET.take(digits @ _WEIGHTS % 32)
    iids = written.view(f"S{len(_FORM)}").ravel().tolist()
    hashes = b"".join([hashlib.blake2b(iid, digest_size=8).digest() for iid in iids])
    keys = (np.frombuffer(hashes, ">u8") >> np.uint64(1)).astype("i8")
    return [iid.decode() for iid in iids], keys
