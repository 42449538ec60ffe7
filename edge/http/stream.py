"""Answers with a stored body: whole or in part, conditional, sent as fast as the client reads.

aiohttp's FileResponse is not used: it ignores an ETag in If-Range, so a resumed download could splice two results.
"""

import asyncio
import base64
from collections.abc import Mapping

from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter

from edge.http.byte_ranges import Slice, Unsatisfiable, slice_of
from edge.http.conditions import match, none_match
from edge.http.json import CACHE_CONTROL
from edge.http.problems import Problem
from edge.http.result_body import ResultBody
from shared.analytics.manifest import ResultManifest
from shared.errors import StoreUnavailable
from shared.telemetry import metrics

_CHUNK_BYTES = 256 * 1024
# A reader who takes a chunk more slowly, at less than 4 kB a second, holds a connection for nothing. nginx ends a pause
# of 30 s, which a reader extends for ever by a byte now and then.
_CHUNK_SECONDS = 60.0
_VARY = {"Vary": "Accept"}
UNCHANGED = Slice(-1, -1)
"""The result of `part_of` where the caller's copy is current."""


class BodyStream(web.StreamResponse):
    """Sends a part of a body when the middlewares have finished the headers."""

    def __init__(
        self, body: ResultBody, part: Slice, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status=status, headers=headers)
        self._stored = body
        self._part = part
        self.content_length = part.stop - part.start

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Send head and bytes. A body that ends early breaks the connection off: no client may take it for whole."""
        try:
            writer = await super().prepare(request)
            if request.method != hdrs.METH_HEAD:
                await self._send(request)
            return writer
        finally:
            self._stored.close()

    async def whole(self) -> bytes:
        """Return the bytes instead of sending them. Raises StoreUnavailable where the store has lost some."""
        at, stop = self._part
        chunks: list[bytes] = []
        try:
            while at < stop:
                chunk = await self._stored.read(at, min(_CHUNK_BYTES, stop - at))
                if not chunk:
                    raise StoreUnavailable("results")
                chunks.append(chunk)
                at += len(chunk)
        finally:
            self._stored.close()
        return b"".join(chunks)

    def discard(self) -> None:
        """Close the stored result where its bytes are not wanted."""
        self._stored.close()

    async def _send(self, request: web.BaseRequest) -> None:
        at, stop = self._part
        while at < stop:
            try:
                chunk = await self._stored.read(at, min(_CHUNK_BYTES, stop - at))
            except StoreUnavailable:
                chunk = b""
            if not chunk:
                if request.transport is not None:
                    request.transport.abort()
                raise ConnectionResetError("the store has lost the result or does not answer any more")
            try:
                async with asyncio.timeout(_CHUNK_SECONDS):
                    await self.write(chunk)
            except TimeoutError:
                if request.transport is not None:
                    request.transport.abort()
                raise ConnectionResetError("the client reads too slowly") from None
            at += len(chunk)
            metrics.result_bytes_sent.inc(len(chunk))


def answer(
    request: web.Request, manifest: ResultManifest, body: ResultBody, following: str | None = None
) -> web.StreamResponse:
    """Make the answer that the request's conditions ask for: 200, 206, 304; raises the problems 412 and 416.

    `following` is the address of the next page, for callers whose format has no place for it in the body.
    """
    try:
        part = part_of(request, body.etag, body.length)
    except Problem:
        body.close()
        raise
    if part is UNCHANGED:
        body.close()
        return not_modified(body.etag, _VARY)
    return body_response(body, part, _fields(manifest, body, following))


async def in_memory(manifest: ResultManifest, body: ResultBody, following: str | None = None) -> web.Response:
    """Return the answer 200 with all its bytes, for a body that is small. Raises StoreUnavailable."""
    content = await BodyStream(body, Slice(0, body.length)).whole()
    fields = {**_common_fields(body.etag), **_fields(manifest, body, following)}
    return web.Response(body=content, headers=fields)


def apply_conditions(request: web.Request, whole: web.Response) -> web.Response:
    """Return what the request's conditions ask of a whole answer: itself, a part of it (206), or 304.

    Raises the problems 412 and 416.
    """
    assert isinstance(whole.body, bytes)
    return portion(whole, part_of(request, whole.headers["ETag"], len(whole.body)))


def portion(whole: web.Response, part: Slice | None) -> web.Response:
    """Return a part of a whole answer (206), the answer itself where that is None, or 304 where it is UNCHANGED."""
    content = whole.body
    assert isinstance(content, bytes)
    if part is UNCHANGED:
        return not_modified(whole.headers["ETag"], _VARY)
    if part is None:
        metrics.result_bytes_sent.inc(len(content))
        return whole
    metrics.result_bytes_sent.inc(part.stop - part.start)
    fields = {**whole.headers, "Content-Range": _content_range(part, len(content))}
    return web.Response(body=content[part.start : part.stop], status=206, headers=fields)


def _fields(manifest: ResultManifest, body: ResultBody, following: str | None) -> dict[str, str]:
    fields = {"Content-Type": content_type(manifest.media_type), **_VARY}
    if body.etag == etag_of(manifest.sha256):
        fields["Repr-Digest"] = repr_digest(manifest.sha256)
    if following is not None:
        fields["Link"] = f'<{following}>; rel="next"'
    if manifest.format != "json":
        fields["Content-Disposition"] = f'attachment; filename="{manifest.filename}"'
    return fields


def part_of(request: web.Request, etag: str, length: int, *, head_has_parts: bool = False) -> Slice | None:
    """Return the part that is asked for, None for the whole, UNCHANGED for 304; raises the problems 412 and 416.

    Range is defined for GET only (RFC 9110, section 14.2): a HEAD with one describes the whole, unless
    `head_has_parts`.
    """
    requested = request.headers
    if not match(requested.get("If-Match"), etag):
        raise Problem("precondition-failed", "The result does not match `If-Match`.")
    if none_match(requested.get("If-None-Match"), etag):
        return UNCHANGED
    if request.method != hdrs.METH_GET and not head_has_parts:
        return None
    try:
        return slice_of(requested.get("Range"), requested.get("If-Range"), etag, length)
    except Unsatisfiable:
        outside = {"Content-Range": f"bytes */{length}"}
        raise Problem("range-not-satisfiable", f"The result has {length} bytes.", fields=outside) from None


def not_modified(etag: str, fields: Mapping[str, str] | None = None) -> web.Response:
    """Answer 304, with these fields of the 200."""
    return web.Response(status=304, headers={**_common_fields(etag), **(fields or {})})


def body_response(body: ResultBody, part: Slice | None, fields: dict[str, str]) -> BodyStream:
    """Answer 200 or 206 with the body's own fields and these."""
    fields = {**_common_fields(body.etag), **fields}
    if part is None:
        return BodyStream(body, Slice(0, body.length), headers=fields)
    fields["Content-Range"] = _content_range(part, body.length)
    return BodyStream(body, part, status=206, headers=fields)


def _common_fields(etag: str) -> dict[str, str]:
    return {"ETag": etag, "Cache-Control": CACHE_CONTROL, "Accept-Ranges": "bytes"}


def _content_range(part: Slice, length: int) -> str:
    return f"bytes {part.start}-{part.stop - 1}/{length}"


def etag_of(sha256: str) -> str:
    """Return the strong ETag of bytes with this digest."""
    return f'"sha256-{sha256}"'


def repr_digest(sha256: str) -> str:
    """Return the `Repr-Digest` field (RFC 9530) of bytes with this digest."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256)).decode()}:"


def content_type(media_type: str) -> str:
    """Return a media type with its charset, where it has one."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
