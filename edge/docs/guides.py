"""The project's guides: Markdown as HTML, and the pages below /docs/guides."""

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from markdown_it import MarkdownIt
from markdown_it.token import Token

from edge.http.answer_cache import UNTIL_THE_DATA_CHANGES
from edge.http.html import HTML, PAGE_FIELDS, PAGES, wants_html
from edge.http.made_once import MadeOnce
from edge.http.prefer import best_format
from edge.http.problems import Problem
from edge.http.representation import Representation
from edge.http.routing import API_PATH

_ALIGNED = re.compile(r' style="text-align:\s?right"')
_NO_WORD = re.compile(r"[^\w\- ]")

_HERE = f"{API_PATH}/docs/guides"
MARKDOWN = "text/markdown; charset=utf-8"
# The media types of a page; a caller without a preference gets the first.
FORMS = {"html": "text/html", "markdown": "text/markdown"}
_FORMS = {"json": "application/json", **FORMS}
# The address in the commands of the guides.
_LOCAL = "http://127.0.0.1:8080"
_NAME = re.compile(r"[a-z0-9-]{1,60}")
# Who reads which guide, in the order in which pages list them.
READERS = {
    "customers": ("tutorial", "tour", "reports", "events", "bulk-data", "tables", "mcp"),
    "operators": (
        "operate",
        "install",
        "tls",
        "settings",
        "scale",
        "cluster",
        "monitor",
        "night",
        "alerts",
        "failures",
        "backup",
        "upgrade",
        "secrets",
        "organizations",
        "bring-your-own-data",
        "undo",
        "matches",
        "promises",
    ),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a text: its level, its anchor and its words."""

    level: int
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as HTML, with its headings in their order."""

    html: str
    title: str
    headings: tuple[Heading, ...]


def render(text: str, link: Callable[[str], str | None] = lambda href: href) -> Rendered:
    """Render a text of ours; its own HTML is kept. `link` maps each address; None makes it plain text."""
    parser = _parser()
    tokens = parser.parse(text)
    headings = _with_anchors(tokens)
    for token in tokens:
        _map_links(token.children or [], link)
    title = next((heading.text for heading in headings if heading.level == 1), "")
    html: str = parser.renderer.render(tokens, parser.options, {})
    # Pages allow no style in the HTML. A wide table scrolls in itself, and can be focused for that.
    html = _ALIGNED.sub(' class="number"', html)
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Rendered(html.replace("<pre>", '<pre tabindex="0">'), title, headings)


def sections_of(text: str) -> list[tuple[Heading, str]]:
    """Return the headings of a text as `render` gives them, each with the plain words below it, up to the next one."""
    tokens = _parser().parse(text)
    headings = iter(_with_anchors(tokens))
    found: list[tuple[Heading, list[str]]] = []
    in_heading = False
    for token in tokens:
        if token.type == "heading_open":
            found.append((next(headings), []))
        elif token.type in ("inline", "fence", "code_block") and found and not in_heading:
            parts = token.children or [token]
            found[-1][1].append("".join(" " if part.type == "softbreak" else part.content for part in parts))
        in_heading = token.type == "heading_open"
    return [(heading, " ".join(" ".join(words).split())) for heading, words in found]


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable("table")


def _with_anchors(tokens: list[Token]) -> tuple[Heading, ...]:
    headings, used = [], set[str]()
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        words = "".join(child.content for child in inline.children or [])
        anchor = plain = _NO_WORD.sub("", words.lower()).replace(" ", "-")
        number = 0
        while anchor in used:
            number += 1
            anchor = f"{plain}-{number}"
        used.add(anchor)
        opening.attrSet("id", anchor)
        headings.append(Heading(int(opening.tag[1]), anchor, words))
    return tuple(headings)


def _map_links(tokens: list[Token], link: Callable[[str], str | None]) -> None:
    dropped = 0
    for token in tokens:
        if token.type == "link_open":
            href = link(str(token.attrGet("href") or ""))
            if href is None:
                dropped += 1
                token.hidden, token.type = True, "text"
            else:
                token.attrSet("href", href)
        elif token.type == "link_close" and dropped:
            dropped -= 1
            token.hidden, token.type = True, "text"


_FOLDER = Path(__file__).parents[2] / "docs" / "guides"


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A document in each of its forms, for people and for programs; without JSON, people are its only readers."""

    html: Representation
    markdown: Representation
    json: Representation | None = None

    def respond(self, request: web.Request, until: float = UNTIL_THE_DATA_CHANGES) -> web.StreamResponse:
        """Answer in the form that the caller prefers; JSON without a preference, where there is any."""
        forms = FORMS if self.json is None else _FORMS
        if best_format(request.headers.get("Accept"), forms) == "markdown":
            return self.markdown.respond(request, until=until)
        if self.json is None or wants_html(request):
            return self.html.respond(request, PAGE_FIELDS, until=until)
        return self.json.respond(request)


@dataclass(frozen=True, slots=True)
class Guide:
    """One guide. Its summary is its first paragraph: one sentence about what the guide is for."""

    name: str
    title: str
    summary: str
    page: DocumentPage


class Guides:
    """The handlers. All guides are rendered once, in a thread, when one is first asked for.

    `commands` install the clients; the guides of customers show them, and call this service by its `origin`.
    """

    def __init__(self, commands: Mapping[str, str], origin: str) -> None:
        self._commands = commands
        self._origin = origin
        self._made = MadeOnce(self._make)

    async def all(self) -> dict[str, Guide]:
        """Return the guides by name."""
        return await self._made.get()

    async def by_readers(self) -> dict[str, list[Guide]]:
        """Return the guides of customers and those of operators, each in their order."""
        guides = await self.all()
        return {readers: [guides[name] for name in names] for readers, names in READERS.items()}

    async def index(self, request: web.Request) -> web.StreamResponse:
        """Answer with the page that lists the guides."""
        return PAGES.page("guides.html", guides=await self.by_readers())

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one guide: Markdown where it is preferred or its name ends in .md, else a page."""
        name = request.match_info["guide"]
        guide = (await self.all()).get(name.removesuffix(".md"))
        if guide is None:
            raise Problem("not-found", f"There is no guide with this name; {_HERE} lists them.")
        return (guide.page.markdown if name.endswith(".md") else guide.page).respond(request)

    def _make(self) -> dict[str, Guide]:
        names = [name for listed in READERS.values() for name in listed]
        texts = {name: (_FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in names}
        texts |= {name: texts[name].replace(_LOCAL, self._origin) for name in READERS["customers"]}
        rendered = {name: render(text, lambda href: address_of(href, set(texts))) for name, text in texts.items()}
        titles = {readers: [(name, rendered[name].title) for name in listed] for readers, listed in READERS.items()}
        return {name: self._guide(name, texts[name], one, titles) for name, one in rendered.items()}

    def _guide(self, name: str, text: str, rendered: Rendered, titles: dict[str, list[tuple[str, str]]]) -> Guide:
        summary = " ".join(text.split("\n\n")[1].split())
        commands = self._commands if name in READERS["customers"] else {}
        page = PAGES.text(
            "guide.html", here=name, guide=rendered, summary=summary, titles=titles, commands=commands.values()
        )
        forms = DocumentPage(Representation.of(page, HTML), Representation.of(text, MARKDOWN))
        return Guide(name, rendered.title, summary, forms)


def address_of(href: str, guides: set[str]) -> str | None:
    """Return where a link of a guide leads on the web: to another guide, or out; None for a file of the repository."""
    if href.startswith(("https://", "http://", "#", "/")):
        return href
    path, _, fragment = href.partition("#")
    name = path.rpartition("/")[2].removesuffix(".md")
    if path.endswith(".md") and "/" not in path and _NAME.fullmatch(name) and name in guides:
        return f"{_HERE}/{name}" + (f"#{fragment}" if fragment else "")
    return None
