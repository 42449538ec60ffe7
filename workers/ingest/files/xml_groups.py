"""The tree of categories of an XML document: it stands before the products, which name their category by its id.

Or other elements name both, and stand behind the products. Flat memory.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lxml import etree

from workers.ingest.files.read_xml import WithoutEntities, events, forget
from workers.ingest.files.text_stream import ByteStream

# More categories than any shop has, and as many products as a mapping can list.
GROUPS_MAX = 20_000
_DEPTH_MAX = 8
# Two levels stand on both sides of the first of these that no name has.
SPLITS = (" > ", " | ", " :: ")


class GroupTree(NamedTuple):
    """How a document writes a tree: its elements, and where each has its id, its name and the id of its parent.

    A place is `@attribute`, the name of a part, or `.` for the text of the element itself. Without `parent` an element
    within another one is below it. One that has the text `root` at `root` stands for the tree, and is no level of it.

    `link`: the elements that put a product into a category, with the places of both their ids. Where versions of a
    format have other names, all are listed, with a space between them.
    """

    element: str
    id: str
    name: str
    parent: str = ""
    root: str = ""
    link: str = ""
    link_product: str = ""
    link_category: str = ""


def category_paths(
    name: str, again: Callable[[], ByteStream], tree: GroupTree, row: str
) -> dict[str, tuple[str, ...]] | None:
    """Return the names of each category by its id, from the widest, as far as they stand before the first row.

    With links it is those of each product's first category by the id of the product; None where these are more than
    `GROUPS_MAX`.
    """
    names: dict[str, str] = {}
    parents: dict[str, str] = {}
    for own, parent, called in _groups(name, again(), tree, row):
        if own and called and len(names) < GROUPS_MAX:
            names[own], parents[own] = called, parent
    paths = {own: tuple(_upwards(own, names, parents))[::-1] for own in names}
    return _of_products(name, again(), tree, row, paths) if tree.link and paths else paths


def _of_products(
    name: str, stream: ByteStream, tree: GroupTree, row: str, paths: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]] | None:
    source = WithoutEntities(name, stream)
    found: dict[str, tuple[str, ...]] = {}
    links = tree.link.split()
    for _, element in events(name, source, ("end",), tag=[f"{{*}}{tag}" for tag in (row, *links)]):
        source.read_since_row = 0
        if etree.QName(element).localname in links:
            path = paths.get(_at(element, tree.link_category))
            if path is not None:
                found.setdefault(_at(element, tree.link_product), path)
        forget(element)
        if len(found) > GROUPS_MAX:
            return None
    return found


def _upwards(own: str, names: dict[str, str], parents: dict[str, str]) -> Iterator[str]:
    """Yield the names of a category and those above it; a tree that is none, but a ring, ends at the depth allowed."""
    for _ in range(_DEPTH_MAX):
        if own not in names:
            return
        yield names[own]
        own = parents[own]


def _groups(name: str, stream: ByteStream, tree: GroupTree, row: str) -> Iterator[tuple[str, str, str]]:
    source = WithoutEntities(name, stream)
    for _, element in events(name, source, ("end",)):
        local = etree.QName(element).localname
        if local == row:
            return
        if local == tree.element:
            source.read_since_row = 0
            around = next(element.iterancestors(f"{{*}}{tree.element}"), None)
            parent = _at(element, tree.parent) if tree.parent else "" if around is None else _at(around, tree.id)
            if not tree.root or _at(element, tree.root) != "root":
                yield _at(element, tree.id), parent, _at(element, tree.name)


def _at(element: etree._Element, place: str) -> str:
    """Return the text at a place of an element; an empty one where it has none."""
    if place.startswith("@"):
        return str(element.get(place[1:]) or "").strip()
    if place == ".":
        part: etree._Element | None = element
    else:
        part = next((found for one in place.split() if (found := element.find(f"{{*}}{one}")) is not None), None)
    text: str = (part.text or "") if part is not None else ""
    return text.strip()
