"""JSON of one moment: an answer that no cache on its way may keep."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

NO_STORE = {"Cache-Control": "no-store"}


def unstored_json(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Return a JSON response with `Cache-Control: no-store` besides the given headers."""
    fields = {**NO_STORE, **(headers or {})}
    return web.Response(
        status=status, body=msgspec.json.encode(document), content_type="application/json", headers=fields
    )
