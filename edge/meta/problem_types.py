"""GET /errors and /errors/{slug}: the catalogue behind every problem's `type`, for people and for programs."""

from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp_apispec import docs, response_schema
from marshmallow import Schema, fields

from edge.http.catalogue import CATALOGUE, ProblemType
from edge.http.html import Templates, wants_html
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.meta.guides import FORMS, MARKDOWN
from edge.meta.markdown import render
from shared.config import Settings

_FORMS = {"json": "application/json", **FORMS}
_CACHED = {"Cache-Control": "public, max-age=300", "Vary": "Accept"}


class ProblemEntry(Schema):
    """One kind of problem."""

    type = fields.Url(required=True)
    slug = fields.Str(required=True)
    title = fields.Str(required=True)
    status = fields.Int(required=True)
    meaning = fields.Str(required=True)
    remedy = fields.Str(required=True)


class ProblemList(Schema):
    """Every kind of problem."""

    data = fields.List(fields.Nested(ProblemEntry()), required=True)
    count = fields.Int(required=True)


class Errors:
    """The handlers."""

    def __init__(self, settings: Settings) -> None:
        self._base = settings.problem_base_url
        self._templates = Templates(Path(__file__).with_name("templates"))

    @docs(
        operationId="listProblems",
        summary="Every problem that can be answered",
        description="Needs no credential and costs nothing.",
        tags=["service"],
    )
    @response_schema(ProblemList(), 200, description="The catalogue; HTML or Markdown where it is asked for")
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with the whole catalogue."""
        entries = [self._entry(entry) for entry in CATALOGUE.values()]
        if _prefers_markdown(request):
            return _markdown("# Every problem, and what to do\n\n" + "\n".join(map(_section, entries)))
        if wants_html(request):
            return self._templates.page("errors.html", entries=[*map(_shown, entries)], one=None)
        return _json({"data": entries, "count": len(entries)})

    @docs(
        operationId="getProblem",
        summary="What one problem means and what to do",
        description="Each problem document names this page as its `type`.",
        tags=["service"],
    )
    @response_schema(ProblemEntry(), 200, description="The entry; HTML or Markdown where it is asked for")
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one entry."""
        entry = CATALOGUE.get(request.match_info["slug"])
        if entry is None:
            raise Problem("not-found", "There is no problem of this name; the list is at /v1/errors.")
        if _prefers_markdown(request):
            return _markdown(_section(self._entry(entry)))
        if wants_html(request):
            return self._templates.page("errors.html", entries=[_shown(self._entry(entry))], one=entry.slug)
        return _json(self._entry(entry))

    def _entry(self, entry: ProblemType) -> dict[str, Any]:
        return {
            "type": f"{self._base}/{entry.slug}",
            "slug": entry.slug,
            "title": entry.title,
            "status": entry.status,
            "meaning": entry.meaning,
            "remedy": entry.remedy,
        }


def _json(document: dict[str, Any]) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), content_type="application/json", headers=_CACHED)


def _markdown(text: str) -> web.Response:
    return web.Response(body=text.encode(), headers={**_CACHED, "Content-Type": MARKDOWN})


def _section(entry: dict[str, Any]) -> str:
    return f"## {entry['status']} {entry['slug']}\n\n{entry['meaning']}\n\n**What to do:** {entry['remedy']}\n"


def _shown(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry whose sentences are HTML: they are Markdown of ours, with names in backticks."""
    remedy = render(f"**What to do:** {entry['remedy']}")
    return {**entry, "meaning": render(entry["meaning"]).html, "remedy": remedy.html}


def _prefers_markdown(request: web.Request) -> bool:
    return best_format(request.headers.get("Accept"), _FORMS) == "markdown"
