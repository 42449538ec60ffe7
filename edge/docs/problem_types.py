"""GET /errors and /errors/{slug}: the catalogue behind every problem's `type`, for people and for programs."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from marshmallow import Schema, fields

from edge.docs.guides import MARKDOWN, DocumentPage, render
from edge.http.catalogue import CATALOGUE, ProblemType
from edge.http.html import HTML, PAGES
from edge.http.made_once import MadeOnce
from edge.http.problems import Problem
from edge.http.representation import Representation
from edge.http.routing import operation
from shared.settings.settings import Settings

# By slug, a request and the members of its answer; `python -m tests.service.http.test_recorded_answers` writes them.
_RECORDED: dict[str, dict[str, Any]] = msgspec.json.decode(
    Path(__file__).with_name("problem_examples.json").read_bytes()
)
_RECORDED_ORIGIN = "http://testserver"
_INSTANCE = "urn:uuid:019abcde-0000-7000-8000-000000000000"


class ProblemEntry(Schema):
    """A problem type."""

    type = fields.Url(required=True)
    slug = fields.Str(required=True)
    title = fields.Str(required=True)
    status = fields.Int(required=True)
    meaning = fields.Str(required=True)
    remedy = fields.Str(required=True)


class ProblemList(Schema):
    """All problem types."""

    data = fields.List(fields.Nested(ProblemEntry()), required=True)
    count = fields.Int(required=True)


_operation = partial(operation, "service")


class Errors:
    """The handlers. All pages are made once: the catalogue does not change while a process runs."""

    def __init__(self, settings: Settings) -> None:
        self._base = settings.problem_base_url
        self._origin = settings.base_url.removesuffix("/v1")
        self._list, self._entries = MadeOnce(self._make_list), MadeOnce(self._make_entries)

    @_operation("listProblems", answers={200: (ProblemList, "The catalogue; HTML or Markdown if `Accept` prefers it")})
    async def list(self, request: web.Request) -> web.StreamResponse:
        """List the problem types.

        Needs no credential and costs nothing.
        """
        return (await self._list.get()).respond(request)

    @_operation("getProblem", answers={200: (ProblemEntry, "The entry; HTML or Markdown if `Accept` prefers it")})
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Meaning and remedy of a problem type.

        Each problem document names this page as its `type`.
        """
        page = (await self._entries.get()).get(request.match_info["slug"])
        if page is None:
            raise Problem("not-found", "There is no problem type with this name; /v1/errors lists them.")
        return page.respond(request)

    def _make_list(self) -> DocumentPage:
        entries = [self._entry(entry) for entry in CATALOGUE.values()]
        text = "# Errors and what to do\n\n" + "\n".join(map(_section, entries))
        return self._page({"data": entries, "count": len(entries)}, entries, None, text)

    def _make_entries(self) -> dict[str, DocumentPage]:
        pages = {}
        for slug, entry in CATALOGUE.items():
            document, example = self._entry(entry), self._example(entry)
            pages[slug] = self._page(document, [document], slug, f"{_section(document)}\n{example}", example)
        return pages

    def _page(
        self, document: dict[str, Any], entries: Iterable[dict[str, Any]], one: str | None, text: str, example: str = ""
    ) -> DocumentPage:
        shown = [*map(_with_html_sentences, entries)]
        page = PAGES.text("errors.html", entries=shown, one=one, example=render(example).html)
        return DocumentPage(
            Representation.of(page, HTML),
            Representation.of(text, MARKDOWN),
            Representation.of(msgspec.json.encode(document), "application/json"),
        )

    def _example(self, entry: ProblemType) -> str:
        """Return a request that causes the problem and its answer, as Markdown."""
        known = _RECORDED.get(entry.slug) or {"request": entry.request, "answer": entry.example}
        answer = {
            "type": f"{self._base}/{entry.slug}",
            "title": entry.title,
            "status": entry.status,
            "instance": _INSTANCE,
        }
        body = msgspec.json.format(msgspec.json.encode(answer | known["answer"]), indent=2).decode()
        text = f"## Example\n\n```\n{known['request']}\n```\n\n```json\n{body}\n```\n"
        return text.replace(_RECORDED_ORIGIN, self._origin)

    def _entry(self, entry: ProblemType) -> dict[str, Any]:
        return {
            "type": f"{self._base}/{entry.slug}",
            "slug": entry.slug,
            "title": entry.title,
            "status": entry.status,
            "meaning": entry.meaning,
            "remedy": entry.remedy,
        }


def _section(entry: dict[str, Any]) -> str:
    return f"## {entry['status']} {entry['slug']}\n\n{entry['meaning']}\n\n**What to do:** {entry['remedy']}\n"


def _with_html_sentences(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry whose sentences are HTML: they are Markdown of ours, with names in backticks."""
    remedy = render(f"**What to do:** {entry['remedy']}")
    return {**entry, "meaning": render(entry["meaning"]).html, "remedy": remedy.html}
