"""Sends a body: whole or a range, conditional, a chunk at a time, as fast as the reader reads.

aiohttp's FileResponse is not used: it ignores an ETag in If-Range, so a resumed download could splice two results.
"""

import base64
from collections.abc import Mapping
from typing import Any

from aiohttp import hdrs, web

from edge.downloads.body import ResultBody
from edge.http.conditional import match, none_match
from edge.http.problems import Problem
from edge.http.ranges import Slice, Unsatisfiable, slice_of
from shared.errors import StoreUnavailable
from shared.results.layout import Manifest
from shared.telemetry import metrics

_CHUNK_BYTES = 256 * 1024
CACHE_CONTROL = "private, max-age=60"
_VARY = {"Vary": "Accept"}
UNCHANGED = Slice(-1, -1)
"""The result of `part_of` where the caller's copy is current."""


class Stream(web.StreamResponse):
    """Sends a part of a body when the middlewares have finished the headers."""

    def __init__(self, body: ResultBody, part: Slice, **options: Any) -> None:
        super().__init__(**options)
        self._stored = body
        self._part = part
        self.content_length = part.stop - part.start

    async def prepare(self, request: web.BaseRequest) -> Any:
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
            await self.write(chunk)
            at += len(chunk)
            metrics.result_bytes_sent.inc(len(chunk))


def answer(
    request: web.Request, manifest: Manifest, body: ResultBody, following: str | None = None
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
        return unchanged(body.etag, _VARY)
    return sending(body, part, _fields(manifest, body, following))


async def in_memory(manifest: Manifest, body: ResultBody, following: str | None = None) -> web.Response:
    """Return the answer 200 with all its bytes, for a body that is small. Raises StoreUnavailable."""
    content = await Stream(body, Slice(0, body.length)).whole()
    fields = {**_common_fields(body.etag), **_fields(manifest, body, following)}
    return web.Response(body=content, headers=fields)


def conditional(request: web.Request, whole: web.Response) -> web.Response:
    """Return what the request's conditions ask of a whole answer: itself, a part of it (206), or 304.

    Raises the problems 412 and 416.
    """
    content, etag = whole.body, whole.headers["ETag"]
    assert isinstance(content, bytes)
    part = part_of(request, etag, len(content))
    if part is UNCHANGED:
        return unchanged(etag, _VARY)
    if part is None:
        metrics.result_bytes_sent.inc(len(content))
        return whole
    metrics.result_bytes_sent.inc(part.stop - part.start)
    fields = {**whole.headers, "Content-Range": _content_range(part, len(content))}
    return web.Response(body=content[part.start : part.stop], status=206, headers=fields)


def _fields(manifest: Manifest, body: ResultBody, following: str | None) -> dict[str, str]:
    fields = {"Content-Type": content_type(manifest.media_type), **_VARY}
    if body.etag == etag_of(manifest.sha256):
        fields["Repr-Digest"] = repr_digest(manifest.sha256)
    if following is not None:
        fields["Link"] = f'<{following}>; rel="next"'
    if manifest.format != "json":
        fields["Content-Disposition"] = f'attachment; filename="{manifest.filename}"'
    return fields


def part_of(request: web.Request, etag: str, length: int) -> Slice | None:
    """Return the part that is asked for, None for the whole, UNCHANGED for 304; raises the problems 412 and 416.

    Range is defined for GET only (RFC 9110, section 14.2): a HEAD with one describes the whole.
    """
    requested = request.headers
    if not match(requested.get("If-Match"), etag):
        raise Problem("precondition-failed", "The result is not the one that `If-Match` names.")
    if none_match(requested.get("If-None-Match"), etag):
        return UNCHANGED
    if request.method != hdrs.METH_GET:
        return None
    try:
        return slice_of(requested.get("Range"), requested.get("If-Range"), etag, length)
    except Unsatisfiable:
        outside = {"Content-Range": f"bytes */{length}"}
        raise Problem("range-not-satisfiable", f"The result has {length} bytes.", fields=outside) from None


def unchanged(etag: str, fields: Mapping[str, str] | None = None) -> web.Response:
    """Answer 304, with these fields of the 200."""
    return web.Response(status=304, headers={**_common_fields(etag), **(fields or {})})


def sending(body: ResultBody, part: Slice | None, fields: dict[str, str]) -> Stream:
    """Answer 200 or 206 with the body's own fields and these."""
    fields = {**_common_fields(body.etag), **fields}
    if part is None:
        return Stream(body, Slice(0, body.length), headers=fields)
    fields["Content-Range"] = _content_range(part, body.length)
    return Stream(body, part, status=206, headers=fields)


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
