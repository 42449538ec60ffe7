"""Files that operators load: upload, see what was recognized and what would change, correct the mapping, load, undo.

The edge may not read or load them: it stores the file and notes what is wanted in a row. `itemindex feeds run`
does it.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import asyncpg
import msgspec
from aiohttp import web

from edge.composition import Services
from edge.dashboard.file_form import FileForm
from edge.dashboard.page_requests import PageError, form_of, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.upload_columns import SHOP, columns_of, is_about_shop, rows_of, with_menus
from edge.dashboard.visitor import SignedIn
from edge.http.context import uuid7
from edge.quota.concurrency import ConcurrencyLimit
from edge.storage.database import Scope
from shared.db.queries import load_queries
from shared.errors import StoreFull
from shared.index.iid import require_uuid
from shared.mapping_columns import ATTRIBUTE, FIELDS, constant_of, top_of
from shared.mapping_doubts import Doubt, decide, doubt_of
from shared.objects.directory import FILES_KEPT_DAYS, upload_key
from shared.printable import file_name, isolate

SQL = load_queries(__file__, "uploads.sql")
PAGE = "/dashboard/data"
_LISTED = 50
# Of one person, and of all people, in one process. nginx.conf sends no more at a time than it has places for uploads.
_UPLOADS_MAX, _UPLOADS_IN_ALL_MAX = 3, 16
_THREADS = ThreadPoolExecutor(_UPLOADS_IN_ALL_MAX, "uploads")
Result = TypeVar("Result")
# A form around a file: its boundaries, the names of its fields, the token.
_FRAME_BYTES_MAX = 8_192
_MAPPING_CHARACTERS_MAX = 60_000
_WORKING = ("waiting", "running")


class UploadPages(Pages):
    """The handlers; for operators alone, each of whom sees the files that they uploaded."""

    def __init__(self, services: Services, sessions: Sessions, cookies: Cookies) -> None:
        super().__init__(services, sessions, cookies)
        self._under_way = ConcurrencyLimit(_UPLOADS_MAX, _UPLOADS_IN_ALL_MAX)

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

    @contextmanager
    def permit(self, request: web.Request, visitor: SignedIn) -> Iterator[FileForm]:
        """Open the form of an operator, whose upload counts as under way in this block.

        Raises PageError by the head of the request alone: others must not keep a connection open by a body.
        """
        person, _ = visitor.require_operator()
        length = request.content_length
        if length is None:
            raise PageError(411, "Send the file with its length, as a browser does.")
        if length > self._settings.upload_bytes_max + _FRAME_BYTES_MAX:
            raise self._too_large()
        if self._under_way.is_reached(person):
            raise PageError(429, f"{_UPLOADS_MAX} of your uploads are under way. Wait until one of them has ended.")
        if self._under_way.is_reached_in_all:
            raise PageError(503, "Too many uploads are under way. Upload the file again in a minute.")
        with self._under_way.hold(person):
            yield FileForm(request)

    async def receive(self, request: web.Request, visitor: SignedIn, form: FileForm) -> web.StreamResponse:
        """Store a file, and show the page that follows what becomes of it."""
        upload, name = str(uuid7()), file_name(await form.file_name()) or "file"
        try:
            size = await self._store_file(form, upload_key(upload))
        except (OSError, StoreFull) as error:
            reason = error.state if isinstance(error, StoreFull) else error.strerror
            self._log.warning("upload-not-stored", error=type(error).__name__, reason=reason)
            raise PageError(503, _not_stored(error)) from error
        person, display = visitor.require_operator()
        await self._database.fetch(SQL.add, upload, person, display, name, size, scope=Scope(person=person))
        return redirect(f"{PAGE}/{upload}")

    async def show_one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
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
        decisions = [value for name, value in form.items() if name.startswith("decision-")]
        row = await self._upload(request, visitor)
        doubts = _doubts(row)
        try:
            mapping, doubts = decide(mapping, doubts, decisions)
        except LookupError:
            raise PageError(
                409, "The mapping has changed since this page was shown. Reload it and decide again."
            ) from None
        try:
            mapping, doubts = with_menus(mapping, doubts, dict(row), form)
        except LookupError as error:
            raise PageError(409, _only_by_text(str(error.args[0]))) from None
        if len(mapping) > _MAPPING_CHARACTERS_MAX:
            raise PageError(413, f"A mapping has {_MAPPING_CHARACTERS_MAX:,} characters at most here; use the command.")
        statements: dict[str, tuple[Any, ...]] = {
            "preview": (SQL.preview, upload, mapping, msgspec.json.encode(doubts).decode()),
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
        return redirect(f"{PAGE}/{upload}")

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

    async def _store_file(self, form: FileForm, key: str) -> int:
        """Write the file of a form to the store as it arrives, and return its length; nothing is kept of half a file.

        Raises OSError, such as of a full disk, and StoreUnavailable.
        """
        size = 0
        with ExitStack() as opened:
            spool = await _in_thread(opened.enter_context, self._services.resources.uploads.spool())
            while block := await form.block():
                size += len(block)
                if size > self._settings.upload_bytes_max:
                    raise self._too_large()
                await _in_thread(spool.file.write, block)
            if not size:
                raise PageError(400, "The file is empty. Choose another one.")
            await _in_thread(spool.keep, key)
        return size

    def _too_large(self) -> PageError:
        most = f"{self._settings.upload_bytes_max:,} bytes at most here (UPLOAD_BYTES_MAX)"
        return PageError(413, f"A file has {most}. Load it by `itemindex ingest`.")


async def _in_thread(act: Callable[..., Result], *arguments: object) -> Result:
    """Act in one of the threads of uploads: a store that hangs blocks all of them, and must not block other work."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, act, *arguments)


def _not_stored(error: OSError | StoreFull) -> str:
    """Return why a file could not be stored."""
    if isinstance(error, StoreFull):
        return "The store of uploaded files is full. Free space on its disk, then upload the file again."
    return "The file could not be stored. Upload it again, or see the log of the edge."


def _only_by_text(column: str) -> str:
    """Return what to do where no menu can change what a column becomes."""
    return (
        f"No menu can change what “{isolate(column)}” becomes: the mapping states it together with others,"
        " or is not valid. Go back, open “The mapping as text, for experts”, change it there, and preview."
        " Nothing was changed."
    )


def _operator(visitor: SignedIn) -> Scope:
    """Return for whom statements work. Raises PageError for others than operators."""
    return Scope(person=visitor.require_operator()[0])


def _id(request: web.Request) -> str:
    return require_uuid(request.match_info["id"], PageError(404, "You have no such file."))


def _shown(upload: asyncpg.Record) -> dict[str, Any]:
    """Return what a page shows of an upload: among others what a person must decide of its mapping."""
    outcome = msgspec.json.decode(upload["outcome"]) if upload["outcome"] else {}
    tables = {kind: rows for kind, rows in outcome.get("rows", {}).items() if rows and kind != "rejects"}
    return {
        "upload": upload,
        "working": upload["state"] in _WORKING,
        **_questions(upload),
        "license": top_of(upload["mapping"] or "", "license"),
        "shop": constant_of(upload["mapping"] or "", SHOP),
        "fields": FIELDS,
        "attribute": ATTRIBUTE,
        "rows": rows_of(dict(upload)),
        "reasons": outcome.get("reasons", []),
        "tables": tables,
        "sentences": outcome.get("sentences", []),
        "fraction": upload["bytes_done"] / upload["bytes"],
    }


def _questions(upload: asyncpg.Record) -> dict[str, Any]:
    """Return the columns of a file with the questions about each, and the questions about all of it."""
    doubts = _doubts(upload)
    columns = columns_of(dict(upload), doubts)
    placed = [doubt for column in columns for doubt in column.doubts]
    elsewhere = [doubt for doubt in doubts if doubt not in placed and not is_about_shop(doubt)]
    return {
        "columns": columns,
        "doubts": [doubt for doubt in elsewhere if doubt.of != "license"],
        "shop_asked": any(map(is_about_shop, doubts)),
        "open_questions": sum(doubt.is_open for doubt in doubts),
    }


def _doubts(upload: asyncpg.Record) -> tuple[Doubt, ...]:
    """Return what a person must decide of an upload's mapping."""
    return tuple(map(doubt_of, msgspec.json.decode(upload["doubts"] or "[]")))
