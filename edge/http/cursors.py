"""Signed cursors, each bound to its list and query."""

import base64
import binascii
import hmac
from collections.abc import Mapping, Sequence

import msgspec

from shared.errors import InvalidCursor
from shared.json_types import JsonValue
from shared.printable import base64url

_TAG_BYTES = 12


class CursorSigner:
    """Seals cursors, which never expire, under the first of the secrets; opens those of every one."""

    def __init__(self, *secrets: str) -> None:
        self._keyed = [hmac.new(secret.encode(), digestmod="sha256") for secret in secrets]

    def seal(self, kind: str, query: Mapping[str, object], position: Sequence[object]) -> str:
        """Return the cursor of the page after `position` in this query."""
        packed = msgspec.msgpack.encode(position)
        return base64url(self._tag(self._keyed[0], kind, query, packed) + packed)

    def open(self, kind: str, query: Mapping[str, object], cursor: str) -> list[JsonValue]:
        """Return the position. Raises InvalidCursor when it was changed, or sealed for another kind or query."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            tag, packed = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
            tags = [self._tag(keyed, kind, query, packed) for keyed in self._keyed]
            if not any(hmac.compare_digest(tag, expected) for expected in tags):
                raise InvalidCursor
            position: list[JsonValue] = msgspec.msgpack.decode(packed, type=list)
        except (binascii.Error, ValueError, msgspec.DecodeError):
            raise InvalidCursor from None
        return position

    def _tag(self, keyed: hmac.HMAC, kind: str, query: Mapping[str, object], packed: bytes) -> bytes:
        bound = msgspec.json.encode([kind, sorted(query.items())])
        # A copy lets no other thread run for so few bytes, as hmac.digest does: a search would keep the lock for long.
        tagged = keyed.copy()
        tagged.update(len(bound).to_bytes(4) + bound + packed)
        return tagged.digest()[:_TAG_BYTES]
