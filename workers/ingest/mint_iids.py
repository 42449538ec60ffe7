"""IIDs of many items at once, as `shared.index.iid.mint` makes each: a load mints one for every item that it meets."""

import hashlib

import numpy as np

from shared.index.iid import CHECK_WEIGHTS, CROCKFORD, MINTED_DIGITS
from workers.analytics.rollups.arrays import Array

_ALPHABET = np.frombuffer(CROCKFORD.encode(), "u1")
_WEIGHTS = np.array(CHECK_WEIGHTS, "i4")
_FORM = np.frombuffer(b"IID-.....-.....-.....", "u1")
IID_TYPE = f"S{len(_FORM)}"
_PLACES = np.flatnonzero(ord(".") == _FORM)
_DIGEST_BYTES = 9


def mint_all(source: str, source_ids: list[str]) -> tuple[Array, Array]:
    """Return the IIDs of a source's items (ASCII) and their keys (int64), in the order of the ids."""
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
    iids = written.view(IID_TYPE).ravel()
    hashes = b"".join([hashlib.blake2b(iid, digest_size=8).digest() for iid in iids.tolist()])
    keys = (np.frombuffer(hashes, ">u8") >> np.uint64(1)).astype("i8")
    return iids, keys
