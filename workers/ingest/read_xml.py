"""XML as rows: each repeated element is one, and its parts are columns by their path. Flat memory.

`g:price` is the text of a part, `price.@currency` an attribute, `image.1` the second part of that name, `param[Colour]`
the text of the first part `param` with the attribute `name="Colour"`, at whatever place it stands. A prefix is the
document's own. Entities are never expanded, and nothing is read from elsewhere (OWASP, XML External Entity Prevention).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from shared.errors import LoadRefused
from workers.ingest.record_paths import product_path
from workers.ingest.text_stream import BoundedStream, ByteStream

DEPTH_MAX = 32
COLUMNS_MAX = 2_000
_SAMPLE_ELEMENTS = 100_000
_BYTES_WITHOUT_ROW_MAX = 32 << 20
SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
    # The text is UTF-8 by now, whatever the document declares of the file.
    "encoding": "utf-8",
}

Row = dict[str, str]


def xml_rows(name: str, stream: ByteStream, path: str) -> Iterator[tuple[int, Row]]:
    """Yield the number and the parts of each element at a path, such as `rss/channel/item`.

    Raises LoadRefused where the document is broken, nested too deep, or an element has too many parts.
    """
    wanted = path.strip("/").split("/")
    source = _WithoutEntities(name, stream)
    number = 0
    for _, element in _events(name, source, ("end",), tag=f"{{*}}{wanted[-1].rpartition(':')[2]}"):
        if [_name(ancestor) for ancestor in (*reversed(list(element.iterancestors())), element)] != wanted:
            continue
        number += 1
        source.read_since_row = 0
        row: Row = {}
        _flatten(name, number, element, "", row)
        yield number, row
        forget(element)


def row_path(name: str, stream: ByteStream) -> str:
    """Return the path of the elements that are products; of other tables that of the outermost that are repeated.

    Raises LoadRefused where no element has parts, or the document is broken.
    """
    times: Counter[tuple[str, ...]] = Counter()
    parts: Counter[tuple[str, ...]] = Counter()
    open_elements: list[str] = []
    for event, element in islice(_events(name, _WithoutEntities(name, stream), ("start", "end")), _SAMPLE_ELEMENTS):
        if event == "start":
            open_elements.append(_name(element))
            if len(open_elements) > DEPTH_MAX:
                raise LoadRefused(f"{name}: elements are nested deeper than {DEPTH_MAX} levels")
            path = tuple(open_elements)
            times[path] += 1
            parts[path[:-1]] += 1
            parts[path] += len(element.attrib)
            for attribute in islice(element.attrib, COLUMNS_MAX):
                times[(*path, f"@{attribute.rpartition('}')[2]}")] += 1
        else:
            open_elements.pop()
            forget(element)
    rows = [path for path in parts if path and parts[path] >= 2 * times[path]]
    if not rows:
        raise LoadRefused(
            f"{name}: no element of the document has two parts or attributes, as a product has: "
            "is it the file that you mean? If so, write the mapping by hand, with the path of the rows in `records`"
        )
    if product := product_path(times, rows):
        return "/".join(product)
    # Of elements that are repeated the outermost is the row, as what is inside is a part of it.
    repeated = [path for path in rows if times[path] > 1]
    if not repeated:
        return "/".join(sorted(rows, key=len)[-1])
    outermost = min(map(len, repeated))
    return "/".join(sorted((path for path in repeated if len(path) == outermost), key=lambda path: times[path])[-1])


def _events(
    name: str, source: BoundedStream, kinds: tuple[str, ...], tag: str | None = None
) -> Iterator[tuple[str, Any]]:
    try:
        for event, element in etree.iterparse(source, events=kinds, tag=tag, **SAFE):
            if isinstance(element.tag, str):
                yield event, element
    except etree.XMLSyntaxError as error:
        raise LoadRefused(
            f"{name}: is no well-formed XML: {str(error)[:200]}: correct it there; where it is a bare & or a name such "
            "as &nbsp;, mend_xml = true in the mapping mends it, as `itemindex ingest guess` writes it"
        ) from None


class _WithoutEntities(BoundedStream):
    """A declaration of entities ends the reading: no feed needs one, and each could be a bomb."""

    def __init__(self, name: str, stream: ByteStream) -> None:
        super().__init__(name, stream, _BYTES_WITHOUT_ROW_MAX, "a row: is `records` another path?")
        self._tail = b""

    def read(self, size: int) -> bytes:
        chunk = super().read(size)
        seen = self._tail + chunk
        if b"<!ENTITY" in seen:
            raise LoadRefused(
                f"{self._name}: declares entities (<!ENTITY …>), which are not read: write the text instead"
            )
        self._tail = seen[-len(b"<!ENTITY") :]
        return chunk


def _name(element: Any) -> str:
    """Return an element's name as the document writes it; one of the default namespace has no prefix."""
    _, _, local = element.tag.rpartition("}")
    return f"{element.prefix}:{local}" if element.prefix else str(local)


def _flatten(name: str, number: int, element: Any, prefix: str, row: Row, depth: int = 1) -> None:
    """Add the parts of an element to a row; the first of a name is that name, the others have a number behind it."""
    if depth > DEPTH_MAX:
        raise LoadRefused(f"{name}: row {number}: elements are nested deeper than {DEPTH_MAX} levels")
    if len(element.attrib) > COLUMNS_MAX:  # to read them takes the square of their number
        raise LoadRefused(f"{name}: row {number}: has more than {COLUMNS_MAX:,} parts")
    for attribute, value in element.attrib.items():
        row[f"{prefix}@{attribute.rpartition('}')[2]}"] = value
    seen: dict[str, int] = {}
    for child in element:
        if not isinstance(child.tag, str):
            raise LoadRefused(
                f"{name}: row {number}: refers to an entity, which is not read; mend_xml = true in the mapping takes "
                "the names of HTML, such as &nbsp;, for their characters"
            )
        own = _name(child)
        times = seen[own] = seen.get(own, -1) + 1
        path = f"{prefix}{own}.{times}" if times else prefix + own
        text = (child.text or "").strip()
        if not len(child) and (named := child.get("name")):
            row.setdefault(f"{prefix}{own}[{named}]", text)
        if len(child) or child.attrib:
            _flatten(name, number, child, f"{path}.", row, depth + 1)
            if text or not len(child):
                row.setdefault(path, text)
        else:
            row[path] = text
        if len(row) > COLUMNS_MAX:
            raise LoadRefused(f"{name}: row {number}: has more than {COLUMNS_MAX:,} parts")


def forget(element: Any) -> None:
    """Give the memory of a finished element back, and of all before it, which it and those around it still hold."""
    element.clear()
    for one in (element, *element.iterancestors()):
        while one.getprevious() is not None:
            del one.getparent()[0]
