"""/docs/guides: the project's guides, as pages for people and as the Markdown that they are."""

import re
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from edge.http.html import HTML, PAGE_FIELDS, PAGES
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.representation import MadeOnce, Representation
from edge.http.routing import API_PATH
from edge.meta.markdown import Rendered, render

_FOLDER = Path(__file__).parents[2] / "deploy" / "guides"
_HERE = f"{API_PATH}/docs/guides"
MARKDOWN = "text/markdown; charset=utf-8"
# The media types of a page; a caller without a preference gets the first.
FORMS = {"html": "text/html", "markdown": "text/markdown"}
_NAME = re.compile(r"[a-z0-9-]{1,60}")


@dataclass(frozen=True, slots=True)
class Guide:
    """One guide in both of its forms."""

    name: str
    title: str
    page: Representation
    markdown: Representation


class Guides:
    """The handlers. All guides are rendered once, in a thread, when one is first asked for."""

    def __init__(self) -> None:
        self._made = MadeOnce(self._make)

    async def all(self) -> dict[str, Guide]:
        """Return the guides by name."""
        return await self._made.get()

    async def index(self, request: web.Request) -> web.StreamResponse:
        """Answer with the page that lists the guides."""
        guides = (await self.all()).values()
        return PAGES.page("guides.html", guides=guides)

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one guide: Markdown where it is preferred or its name ends in .md, else a page."""
        name = request.match_info["guide"]
        guide = (await self.all()).get(name.removesuffix(".md"))
        if guide is None:
            raise Problem("not-found", f"There is no guide of this name; the list is at {_HERE}.")
        if name.endswith(".md") or best_format(request.headers.get("Accept"), FORMS) == "markdown":
            return guide.markdown.respond(request)
        return guide.page.respond(request, PAGE_FIELDS)

    def _make(self) -> dict[str, Guide]:
        texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.md"))}
        rendered = {name: render(text, lambda href: address_of(href, set(texts))) for name, text in texts.items()}
        titles = [(name, one.title) for name, one in rendered.items()]
        return {name: self._guide(name, texts[name], one, titles) for name, one in rendered.items()}

    def _guide(self, name: str, text: str, rendered: Rendered, titles: list[tuple[str, str]]) -> Guide:
        page = PAGES.text("guide.html", here=name, guide=rendered, titles=titles)
        return Guide(name, rendered.title, Representation.of(page, HTML), Representation.of(text, MARKDOWN))


def address_of(href: str, guides: set[str]) -> str | None:
    """Return where a link of a guide leads on the web: to another guide, or out; None for a file of the repository."""
    if href.startswith(("https://", "http://", "#", "/")):
        return href
    path, _, fragment = href.partition("#")
    name = path.rpartition("/")[2].removesuffix(".md")
    if path.endswith(".md") and "/" not in path and _NAME.fullmatch(name) and name in guides:
        return f"{_HERE}/{name}" + (f"#{fragment}" if fragment else "")
    return None
