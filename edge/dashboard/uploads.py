"""Files that operators load: upload, see what was recognized and what would change, correct the mapping, load, undo.

The edge may not read or load them: it stores the file and notes what is wanted in a row. `itemindex feeds run`
does it.
"""

import asyncio
from contextlib import ExitStack
from typing import Any

import asyncpg
import msgspec
from aiohttp import BodyPartReader, MultipartReader, web

from edge.dashboard.doubts import decided, doubts_of
from edge.dashboard.pages import Pages
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render, see
from edge.http.context import uuid7
from edge.storage.database import Scope
from shared.db.queries import load_queries
from shared.index.iid import require_uuid
from shared.objects.directory import FILES_KEPT_DAYS, upload_key
from shared.printable import file_name

SQL = load_queries(__file__, "uploads.sql")
PAGE = "/dashboard/data"
_LISTED = 50
_BLOCK_BYTES = 1 << 18
# A form around a file: its boundaries, the names of its fields, the token.
_FRAME_BYTES_MAX = 8_192
_MAPPING_CHARACTERS_MAX = 60_000
_WORKING = ("waiting", "running")


class UploadPages(Pages):
    """The handlers; for operators alone, each of whom sees the files that they uploaded."""

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show the form for a file, the person's files, and all feeds."""
        scope = _operator(visitor)
        return render(
            request,
            "uploads.html",
            visitor,
            uploads=await self._database.fetch(SQL.listed, _LISTED, scope=scope),
            feeds=await self._database.fetch(SQL.feeds),
            bytes_max=self._settings.upload_bytes_max,
            kept_days=FILES_KEPT_DAYS,
        )

    async def receive(self, request: web.Request, visitor: SignedIn, form: MultipartReader) -> web.StreamResponse:
        """Store a file, and show the page that follows what becomes of it."""
        scope = _operator(visitor)
        length = request.content_length
        if length is None:
            raise PageError(411, "Send the file with its length, as a browser does.")
        if length > self._settings.upload_bytes_max + _FRAME_BYTES_MAX:
            raise self._too_large()
        part = await form.next()
        if not isinstance(part, BodyPartReader) or part.name != "file" or not part.filename:
            raise PageError(400, "Choose a file.")
        upload, name = str(uuid7()), file_name(part.filename) or "file"
        size = await self._store_part(part, upload_key(upload))
        await self._database.fetch(SQL.add, upload, *visitor.require_operator(), name, size, scope=scope)
        return see(f"{PAGE}/{upload}")

    async def one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Show a file: what was recognized, what would be loaded, what was."""
        return render(request, "upload.html", visitor, **_shown(await self._upload(request, visitor)))

    async def state(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The part of the page that changes, asked for again and again until the work has ended."""
        upload = await self._upload(request, visitor)
        if upload["state"] in _WORKING:
            return render(request, "upload_progress.html", visitor, **_shown(upload))
        response = render(request, "upload_state.html", visitor, **_shown(upload))
        response.headers.update({"HX-Retarget": "#upload", "HX-Reswap": "outerHTML"})
        return response

    async def act(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Note what is wanted: another preview, the load, its end, or its undoing."""
        scope = _operator(visitor)
        form, upload = await form_of(request), _id(request)
        mapping = form.get("mapping", "").replace("\r\n", "\n")
        try:
            mapping = decided(mapping, [value for name, value in form.items() if name.startswith("decision-")])
        except LookupError:
            raise PageError(
                409, "The mapping has changed since this page was shown. Reload it and decide again."
            ) from None
        if len(mapping) > _MAPPING_CHARACTERS_MAX:
            raise PageError(413, f"A mapping has {_MAPPING_CHARACTERS_MAX:,} characters at most here; use the command.")
        statements: dict[str, tuple[Any, ...]] = {
            "preview": (SQL.preview, upload, mapping),
            "load": (SQL.load, upload, mapping),
            "undo": (SQL.undo, upload),
            "cancel": (SQL.cancel, upload),
        }
        if (wanted := form.get("wanted", "")) not in statements:
            raise PageError(400, "Choose what to do with the file.")
        query, *values = statements[wanted]
        if not await self._database.fetch(query, *values, scope=scope):
            await self._upload(request, visitor)  # 404 where there is none
            detail = " Preview the mapping before you load the file." if wanted == "load" else ""
            raise PageError(409, f"The file's state has changed since this page was shown.{detail}")
        return see(f"{PAGE}/{upload}")

    async def mapping(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The mapping as a file, for the command."""
        upload = await self._upload(request, visitor)
        if upload["mapping"] is None:
            raise PageError(404, "This file has no mapping yet.")
        name = f"{upload['file_name'].partition('.')[0] or 'mapping'}.toml"
        fields = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return web.Response(text=upload["mapping"], content_type="application/toml", charset="utf-8", headers=fields)

    async def _upload(self, request: web.Request, visitor: SignedIn) -> asyncpg.Record:
        row = await self._database.fetch_row(SQL.one, _id(request), scope=_operator(visitor))
        if row is None:
            raise PageError(404, "You have no such file.")
        return row

    async def _store_part(self, part: BodyPartReader, key: str) -> int:
        """Write a part of a form to the store as it arrives, and return its length; nothing is kept of half a file."""
        size = 0
        with ExitStack() as opened:
            spool = await asyncio.to_thread(opened.enter_context, self._services.resources.results.spool())
            try:
                while block := await part.read_chunk(_BLOCK_BYTES):
                    size += len(block)
                    if size > self._settings.upload_bytes_max:
                        raise self._too_large()
                    await asyncio.to_thread(spool.file.write, block)
            except (ValueError, AssertionError, ConnectionError, web.RequestPayloadError):
                raise PageError(400, "The upload is incomplete. Upload the file again.") from None
            if not size:
                raise PageError(400, "The file is empty. Choose another one.")
            await asyncio.to_thread(spool.keep, key)
        return size

    def _too_large(self) -> PageError:
        most = f"{self._settings.upload_bytes_max:,} bytes at most here (UPLOAD_BYTES_MAX)"
        return PageError(413, f"A file has {most}. Load it by `itemindex ingest`.")


def _operator(visitor: SignedIn) -> Scope:
    """Return for whom statements work. Raises PageError for others than operators."""
    return Scope(person=visitor.require_operator()[0])


def _id(request: web.Request) -> str:
    return require_uuid(request.match_info["id"], PageError(404, "You have no such file."))


def _shown(upload: asyncpg.Record) -> dict[str, Any]:
    """Return what a page shows of an upload: among others what a person must decide of its mapping."""
    outcome = msgspec.json.decode(upload["outcome"]) if upload["outcome"] else {}
    tables = {kind: rows for kind, rows in outcome.get("rows", {}).items() if rows}
    return {
        "upload": upload,
        "working": upload["state"] in _WORKING,
        "doubts": doubts_of(upload["mapping"] or ""),
        "tables": tables,
        "sentences": outcome.get("sentences", []),
        "fraction": upload["bytes_done"] / upload["bytes"],
    }
