"""The links of an item that a GS1 Digital Link leads to, and the choice among them."""

from collections.abc import Sequence
from dataclasses import dataclass

from edge.http.prefer import best_format

VOCABULARY = "https://ref.gs1.org/voc/"
PREFIX = "gs1:"
CONTEXT = "https://ref.gs1.org/standards/resolver/linkset-context"
MEDIA_TYPE = "application/linkset+json"
DEFAULT = "defaultLink"
# The namespace had this address before; codes that were printed then still ask by it.
_NAMESPACES = (PREFIX, VOCABULARY, "https://gs1.org/voc/", "http://gs1.org/voc/", "https://www.gs1.org/voc/")
_LINKSET_TYPES = frozenset({"linkset", "all"})
_REDIRECT, _LINKSET, _JSON = "redirect", MEDIA_TYPE, "application/json"


@dataclass(frozen=True, slots=True)
class ItemLink:
    """One link of an article.

    `type`: a term of GS1's vocabulary; `media_type`: of what is at `href`; `passes_query`: whether the query of
    the request is appended to `href`. The API refuses parameters that it does not know, so its own addresses take none.
    """

    type: str
    href: str
    title: str
    media_type: str
    passes_query: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the link as a linkset shows it."""
        return {"href": self.href, "title": self.title, "type": self.media_type, "fwqs": self.passes_query}


def links_of(iid: str, name: str, base_url: str, origin: str) -> list[ItemLink]:
    """Return the links of an item; the first one is the default."""
    record = f"{base_url}/index/lookup/{iid}"
    footprint = f"{base_url}/index/sustainability/{iid}"
    return [
        ItemLink(DEFAULT, record, name, "application/json"),
        ItemLink("pip", record, f"Record of {name}", "application/json"),
        ItemLink("pip", f"{origin}/dashboard/explorer/{iid}", f"Page of {name}", "text/html", passes_query=True),
        ItemLink("sustainabilityInfo", footprint, f"Footprint of {name}", "application/json"),
    ]


def linkset(anchor: str, description: str, links: Sequence[ItemLink]) -> dict[str, object]:
    by_type: dict[str, list[dict[str, object]]] = {}
    for link in links:
        by_type.setdefault(VOCABULARY + link.type, []).append(link.as_dict())
    return {"linkset": [{"anchor": anchor, "itemDescription": description, **by_type}]}


def wants_linkset(link_type: str | None, accept: str | None) -> str | None:
    """Return the media type in which a request wants the linkset; None where it wants to be led to a link."""
    listed = {kind: kind for kind in (_LINKSET, _JSON)}
    if link_type in _LINKSET_TYPES:
        return best_format(accept, listed) or _LINKSET
    if link_type is not None:
        return None
    # A browser that takes HTML, and a program that takes anything, are led on.
    liked = best_format(accept, {_REDIRECT: "text/html", **listed})
    return None if liked == _REDIRECT else liked


def choose_link(links: Sequence[ItemLink], link_type: str | None, accept: str | None) -> ItemLink | None:
    """Return the link that fits a request best, the first of equals; None where there is none of the type."""
    if link_type is None:
        return links[0]
    term = next(
        (link_type.removeprefix(namespace) for namespace in _NAMESPACES if link_type.startswith(namespace)), None
    )
    typed = {link.media_type: link for link in reversed(links) if link.type == term}
    liked = best_format(accept, {kind: kind for kind in reversed(typed)}) if typed else None
    return typed.get(liked or "") or next(reversed(typed.values()), None)
