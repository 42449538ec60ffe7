"""Downloads of stored files: sent by nginx where that can reach them, so that Python copies no bytes; else streamed."""

from collections.abc import Mapping
from typing import NamedTuple

from aiohttp import hdrs, web

from edge.bulk.download_allowance import DownloadAllowance
from edge.http import stream
from edge.http.byte_ranges import Slice
from edge.http.context import CONTEXT
from edge.http.json import CACHE_CONTROL
from edge.http.result_body import ResultBody, open_result
from edge.quota.open_downloads import OpenDownloads
from shared.objects.directory import ResultStore


class StoredFile(NamedTuple):
    """A file that is whole and will never change, as a manifest names it. `filename` is of our making: plain ASCII."""

    key: str
    bytes: int
    sha256: str
    media_type: str
    filename: str


class FileResponder:
    """Answers downloads. `x_accel_location` is nginx's internal location for the store's directory."""

    def __init__(
        self, store: ResultStore, x_accel_location: str, allowance: DownloadAllowance, under_way: OpenDownloads
    ) -> None:
        self._store = store
        self._under_way = under_way
        self._accel_location = x_accel_location
        self._allowance = allowance

    async def respond(self, request: web.Request, file: StoredFile, organization: str | None) -> web.StreamResponse:
        """Answer 200, 206 or 304 with ETag, Repr-Digest and Content-Length; raises the problems 412, 416 and 429.

        The bytes are counted against the organization's allowance.
        Raises ResultGone where the store has lost the file or has another one in its place.
        """
        etag = stream.etag_of(file.sha256)
        return await self.send(request, file, organization, stream.part_of(request, etag, file.bytes), {"ETag": etag})

    async def send(
        self,
        request: web.Request,
        file: StoredFile,
        organization: str | None,
        part: Slice | None,
        fields: Mapping[str, str],
        *,
        accelerate: bool = True,
    ) -> web.StreamResponse:
        """Answer with a part of a file, with the whole where it is None, or 304 where it is UNCHANGED.

        `fields` have its ETag, and replace what we would say of it. Raises as `respond` does.
        """
        etag = fields["ETag"]
        if part is stream.UNCHANGED:
            return stream.not_modified(etag)
        fields = {
            "Content-Type": stream.content_type(file.media_type),
            "Repr-Digest": stream.repr_digest(file.sha256),
            "Content-Disposition": f'attachment; filename="{file.filename}"',
            **fields,
        }
        # Opened before its bytes are counted: what cannot be sent costs nothing.
        body = ResultBody(await open_result(self._store, file.key, file.bytes), file.bytes, b"", etag)
        is_accelerated = accelerate and bool(self._accel_location) and _can_accelerate(request, part)
        if not is_accelerated:
            self._under_way.hold(body, organization)
        try:
            if organization is not None and request.method == hdrs.METH_GET:
                length = file.bytes if part is None else part.stop - part.start
                await self._allowance.consume(organization, length, request[CONTEXT].charge_id)
        except BaseException:  # refused, or the caller has gone
            body.close()
            raise
        if is_accelerated:
            body.close()
            there = {"Cache-Control": CACHE_CONTROL, "X-Accel-Redirect": self._accel_location + file.key}
            return web.Response(headers={**there, **fields})
        return stream.body_response(body, part, fields)

    async def respond_made(
        self, request: web.Request, content: bytes, organization: str, part: Slice | None, fields: Mapping[str, str]
    ) -> web.StreamResponse:
        """Answer with a part of bytes that were made for the request, counted as those of a file, as `send` does."""
        answer = stream.portion(web.Response(body=content, headers={"Cache-Control": CACHE_CONTROL, **fields}), part)
        if request.method == hdrs.METH_GET and isinstance(answer.body, bytes):
            await self._allowance.consume(organization, len(answer.body), request[CONTEXT].charge_id)
        return answer


def _can_accelerate(request: web.Request, part: Slice | None) -> bool:
    """Return whether nginx would decide as this code does.

    It knows our ETag too late for `If-Match`, answers 416 to some ranges that mean nothing, where the whole is right,
    and 206 to a HEAD with a range. Of a part that no range names it knows nothing. It holds `If-Unmodified-Since`
    against the date of its file, which we never send.
    """
    requested = request.headers
    if (
        (request.method != hdrs.METH_GET and "Range" in requested)
        or "If-Match" in requested
        or "If-Unmodified-Since" in requested
    ):
        return False
    return (part is not None) == ("Range" in requested)
