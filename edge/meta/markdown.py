"""Markdown of this project as HTML: guides, documentation, problems. CommonMark with tables, by markdown-it-py."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_ALIGNED = re.compile(r' style="text-align:\s?right"')
_NO_WORD = re.compile(r"[^\w\- ]")


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
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(text)
    headings = _with_anchors(tokens)
    for token in tokens:
        _map_links(token.children or [], link)
    title = next((one.text for one in headings if one.level == 1), "")
    html: str = parser.renderer.render(tokens, parser.options, {})
    # Pages allow no style in the HTML. A wide table scrolls in itself, and can be focused for that.
    html = _ALIGNED.sub(' class="number"', html)
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Rendered(html.replace("<pre>", '<pre tabindex="0">'), title, headings)


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
