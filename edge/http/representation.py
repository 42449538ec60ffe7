"""A document in one media type: its bytes, its compressed form and its ETag."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from edge.http.answer_cache import PUBLIC, UNTIL_THE_DATA_CHANGES, AnswerOffer
from edge.http.compression import COMPRESSED_FROM_BYTES, accepts_gzip
from edge.http.conditions import none_match
from edge.http.context import CONTEXT

_CACHE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Representation:
    """One form of a document. `compressed` is empty where compression would not pay."""

    body: bytes
    compressed: bytes
    content_type: str
    etag: str

    @classmethod
    def of(cls, content: str | bytes, content_type: str) -> "Representation":
        """Make a representation; for a large document call it in a thread, because compressing takes a while."""
        body = content.encode() if isinstance(content, str) else content
        compressed = gzip.compress(body, 9, mtime=0) if len(body) >= COMPRESSED_FROM_BYTES else b""
        return cls(body, compressed, content_type, f'W/"{hashlib.sha256(body).hexdigest()[:32]}"')

    def respond(
        self, request: web.Request, headers: Mapping[str, str] | None = None, *, until: float = UNTIL_THE_DATA_CHANGES
    ) -> web.Response:
        """Answer a GET: 304 where the caller has it already, compressed where the caller can read that.

        The answer is kept for the fast path, and no longer than `until`, in seconds since 1970.
        """
        given = {
            "ETag": self.etag,
            "Cache-Control": f"public, max-age={_CACHE_SECONDS}",
            "Vary": "Accept, Accept-Encoding",
            **(headers or {}),
        }
        content = {"Content-Type": self.content_type}
        body = self.body
        if self.compressed and accepts_gzip(request):
            body, content["Content-Encoding"] = self.compressed, "gzip"
        whole = web.Response(body=body, headers={**given, **content})
        request[CONTEXT].offer = AnswerOffer(whole, 0, for_today=False, organization_id=PUBLIC, until=until)
        if none_match(request.headers.get("If-None-Match"), self.etag):
            return web.Response(status=304, headers=given)
        return whole
