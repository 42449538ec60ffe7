"""Pages of answers: as many parts as fit into 4 kB, and a cursor for those that follow. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from edge.http.cursors import CursorSigner
from edge.mcp.views import View, assembled, fitted
from shared.errors import InvalidCursor

ANSWER_BYTES_MAX = 4_096
"""Of a whole response body with a tool's answer."""
_KIND = "mcp"
_PARTS_LOOKED_AT = 512
_ENCODER = msgspec.json.Encoder()


class Position(NamedTuple):
    """Where a page begins: the cursor of the REST call's own page, and the part of its answer."""

    rest_cursor: str | None = None
    part: int = 0


class Pages:
    """Cuts answers into pages; each cursor is bound to its tool and arguments."""

    def __init__(self, cursors: CursorSigner) -> None:
        self._cursors = cursors

    def position(self, tool: str, arguments: Mapping[str, Any], cursor: str | None) -> Position:
        """Return where a page begins. Raises InvalidCursor."""
        if cursor is None:
            return Position()
        values = self._cursors.open(_KIND, {"tool": tool, **arguments}, cursor)
        try:
            return msgspec.convert(values, Position)
        except msgspec.ValidationError:
            raise InvalidCursor from None

    def page(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        view: View,
        position: Position,
        encoded: Callable[[str], bytes],
    ) -> str:
        """Return the text of a page: the most parts with which `encoded`, the whole response, has 4 kB."""
        following = view.parts[position.part : position.part + _PARTS_LOOKED_AT]
        parts = [part._replace(value=fitted(part.value)) for part in following]
        left = len(view.parts) - position.part

        def text(count: int) -> str:
            document = {**view.head, **assembled(parts[:count])}
            if count < left:
                document["next_cursor"] = self._seal(
                    tool, arguments, Position(position.rest_cursor, position.part + count)
                )
            elif view.following is not None:
                document["next_cursor"] = self._seal(tool, arguments, Position(view.following))
            return _ENCODER.encode(document).decode()

        # The last page has no cursor and may hold more than one that is cut: it is tried first.
        if left <= len(parts) and len(encoded(text(len(parts)))) <= ANSWER_BYTES_MAX:
            return text(len(parts))
        least, most = min(1, len(parts)), len(parts)
        while least < most:
            middle = (least + most + 1) // 2
            if len(encoded(text(middle))) <= ANSWER_BYTES_MAX:
                least = middle
            else:
                most = middle - 1
        return text(least)

    def _seal(self, tool: str, arguments: Mapping[str, Any], position: Position) -> str:
        return self._cursors.seal(_KIND, {"tool": tool, **arguments}, list(position))
