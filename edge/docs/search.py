"""GET /docs/search: finds sections of the guides, calls of the reference and problem types, without scripts."""

import re
from collections.abc import Iterator

from aiohttp import web

from edge.docs.document import OpenApiDocument
from edge.docs.guides import Guides, sections_of
from edge.docs.pages import Docs, calls_of
from edge.docs.search_index import Section, SectionIndex
from edge.http.catalogue import CATALOGUE
from edge.http.html import PAGES
from edge.http.made_once import MadeOnce
from edge.http.routing import API_PATH

_DOCS = f"{API_PATH}/docs"
_HITS_MAX = 25
_QUERY_CHARACTERS_MAX = 200
# People paste the `type` of a problem whole.
_TYPE = re.compile(r"https?://\S+/([a-z0-9-]+)/?")


class DocsSearch:
    """The handler. The index is made once, in a thread, when somebody first searches."""

    def __init__(self, document: OpenApiDocument, docs: Docs, guides: Guides) -> None:
        self._document = document
        self._docs = docs
        self._guides = guides
        self._index: MadeOnce[SectionIndex] | None = None

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the sections that have the words of `q`; without any, with the field alone."""
        q = request.query.get("q", "").strip()[:_QUERY_CHARACTERS_MAX]
        index = await self._made()
        pasted = _TYPE.fullmatch(q)
        hits = index.find(pasted[1] if pasted else q, _HITS_MAX) if q else []
        return PAGES.page("search.html", q=q, hits=hits, hits_max=_HITS_MAX)

    async def _made(self) -> SectionIndex:
        if self._index is None:
            by_readers = await self._guides.by_readers()
            guides = [guide for listed in by_readers.values() for guide in listed]
            texts = [(f"{_DOCS}/guides/{guide.name}", guide.page.markdown.body.decode()) for guide in guides]
            texts.insert(0, (_DOCS, self._docs.text((), by_readers)))
            self._index = MadeOnce(lambda: SectionIndex((*_of_texts(texts), *_of_problems(), *self._of_calls())))
        return await self._index.get()

    def _of_calls(self) -> Iterator[Section]:
        for tag, call in calls_of(self._document.as_dict()):
            title = f"{call.method} {call.path}"
            address = f"{_DOCS}/reference#tag/{tag}/{call.method}{call.path}"
            yield Section(title, "Reference", address, call.summary, (title, call.path))


def _of_texts(texts: list[tuple[str, str]]) -> Iterator[Section]:
    for address, text in texts:
        sections = sections_of(text)
        title = next((heading.text for heading, _ in sections if heading.level == 1), "")
        for heading, words in sections:
            anchor = "" if heading.level == 1 else f"#{heading.anchor}"
            yield Section(heading.text, title, f"{address}{anchor}", words)


def _of_problems() -> Iterator[Section]:
    for slug, entry in CATALOGUE.items():
        text = f"{entry.meaning} {entry.remedy}".replace("`", "")
        title = f"{entry.status} {slug}"
        yield Section(title, "Errors", f"{API_PATH}/errors/{slug}", f"{text} {entry.title}", (slug, title))
