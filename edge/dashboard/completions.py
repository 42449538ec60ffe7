"""Completions of a field of a form: brands, categories and channels of the index by the beginning of their names."""

from typing import NamedTuple

from aiohttp import web

from edge.dashboard.session_guard import PageError, SignedIn, render
from edge.index import brands, categories, channels
from edge.storage.database import Database
from shared.slugs import beginning_of_slug

_OPTIONS = 12
_TEXT_MAX = 400
_OTHER_FIELDS = ("kind", "format", "target")


class Option(NamedTuple):
    """A value and its name."""

    value: str
    name: str


class CompletionPages:
    """The handler. Lists of the index are free for signed-in visitors."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The options for what is typed: the last of several values is completed, those before it are kept."""
        field = request.match_info["list"]
        if field == "watched":
            field = request.query.get("target", "")
        typed = next((value for name, value in request.query.items() if name not in _OTHER_FIELDS), "")[:_TEXT_MAX]
        before, comma, last = typed.rpartition(",")
        options = await self._options(field, last.strip())
        kept = f"{before}{comma} " if comma else ""
        return render(request, "completions.html", visitor, options=options, kept=kept)

    async def _options(self, field: str, prefix: str) -> list[Option]:
        if field == "brand":
            like = brands.beginning_of_name(prefix) or None
            rows = await self._database.fetch(brands.SQL.page_by_items, like, None, None, None, _OPTIONS)
            return [Option(row["slug"], row["name"]) for row in rows]
        if field == "category":
            slug = beginning_of_slug(prefix) or None
            rows = await self._database.fetch(categories.SQL.page, None, None, slug, None, _OPTIONS)
            return [Option(row["code"], " › ".join(row["path"])) for row in rows]
        if field == "channel":
            rows = await self._database.fetch(channels.SQL.page, prefix or None, None, _OPTIONS)
            return [Option(row["code"], row["code"]) for row in rows]
        if field == "article":
            return []
        raise PageError(404, "There is no such list.")
