"""A cache of resolved credentials in the memory of one process, for seconds. It contains no credential."""

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable

from shared.accounts import Principal

_KEPT_SECONDS = 5.0
_VALID_MAX = 20_000
_UNKNOWN_MAX = 10_000
_DIGEST_BYTES = 16

Entry = tuple[float, Principal | None]


class CredentialCache:
    """Two bounded LRU tables: principals, and credentials that are not valid.

    They are separate because anyone can make well-formed credentials that do not exist: however many come, they push
    out each other and no principal.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        valid_max: int = _VALID_MAX,
        unknown_max: int = _UNKNOWN_MAX,
    ) -> None:
        self._clock = clock
        self._valid_max, self._unknown_max = valid_max, unknown_max
        # Keyed by a random key of this process: a memory dump contains nothing that could be used elsewhere.
        self._key = os.urandom(32)
        self._valid: OrderedDict[bytes, Entry] = OrderedDict()
        self._unknown: OrderedDict[bytes, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._valid) + len(self._unknown)

    def digest(self, credential: str) -> bytes:
        """Return the name of a credential in this cache: 16 bytes."""
        text = credential.encode(errors="surrogatepass")
        return hashlib.blake2b(text, digest_size=_DIGEST_BYTES, key=self._key).digest()

    def find(self, digest: bytes) -> Entry | None:
        """Return the entry of a credential while it is fresh: when it ends, and its principal or None."""
        for table in (self._valid, self._unknown):
            entry = table.get(digest)
            if entry is not None:
                if entry[0] > self._clock():
                    table.move_to_end(digest)
                    return entry
                del table[digest]
        return None

    def remember(self, digest: bytes, principal: Principal | None) -> None:
        """Keep what was found for five seconds."""
        table, entries_max = (self._unknown, self._unknown_max) if principal is None else (self._valid, self._valid_max)
        table[digest] = (self._clock() + _KEPT_SECONDS, principal)
        if len(table) > entries_max:
            table.popitem(last=False)

    def clear(self) -> None:
        """Remove everything."""
        self._valid.clear()
        self._unknown.clear()
