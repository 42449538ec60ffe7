"""XML as rows: each repeated element is one, and its parts are columns by their path. Flat memory.

`g:price` is the text of a part, `price.@currency` an attribute, `image.1` the second part of that name, `param[Colour]`
the text of the first part `param` with the attribute `name="Colour"`, at whatever place it stands; `meta[_price]` is
the value of the last part that has the key `_price` beside it. A prefix is the document's own. Entities are never
expanded, and nothing is read from elsewhere (OWASP, XML External Entity Prevention).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from lxml import etree

from shared.errors import LoadRefused
from workers.ingest.files.record_paths import product_path
from workers.ingest.files.text_stream import BoundedStream, ByteStream

# How the names of two parts end of which the first names the second.
KEY_AND_VALUE = (("key", "name"), ("value", "val"))
_LOCAL_NAME = re.compile(r"[^\W\d][\w.-]*")
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


def xml_rows(
    name: str, stream: ByteStream, path: str, columns: Collection[str] | None = None
) -> Iterator[tuple[int, Row]]:
    """Yield the number and the parts of each element at a path, such as `rss/channel/item`.

    Of its parts those that can hold one of `columns` are enough, and the others are not looked at. Raises LoadRefused
    where the document is broken, nested too deep, or an element has too many parts.
    """
    wanted = path.strip("/").split("/")
    source = WithoutEntities(name, stream)
    number = 0
    around = None
    tags = None if columns is None else _tags_of(columns)
    for _, element in events(name, source, ("end",), tag=f"{{*}}{wanted[-1].rpartition(':')[2]}"):
        if _name(element) != wanted[-1]:
            continue
        if (parent := element.getparent()) is not around or around is None:
            if [_name(one) for one in reversed(list(element.iterancestors()))] != wanted[:-1]:
                continue
            around = parent
        number += 1
        source.read_since_row = 0
        row: Row = {}
        parts = element if tags is None else element.iterchildren(*tags) if tags else ()  # without a tag it yields all
        _flatten(name, number, element, "", row, parts=parts)
        yield number, row
        forget(element)


def row_path(name: str, stream: ByteStream) -> str:
    """Return the path of the elements that are products; of other tables that of the outermost that are repeated.

    Raises LoadRefused where no element has parts, or the document is broken.
    """
    times: Counter[tuple[str, ...]] = Counter()
    parts: Counter[tuple[str, ...]] = Counter()
    open_elements: list[str] = []
    for event, element in islice(events(name, WithoutEntities(name, stream), ("start", "end")), _SAMPLE_ELEMENTS):
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
    if product := product_path(times, rows, are_named=True):
        return "/".join(product)
    # Of elements that are repeated the outermost is the row, as what is inside is a part of it.
    repeated = [path for path in rows if times[path] > 1]
    if not repeated:
        return "/".join(sorted(rows, key=len)[-1])
    outermost = min(map(len, repeated))
    return "/".join(sorted((path for path in repeated if len(path) == outermost), key=lambda path: times[path])[-1])


def events(
    name: str, source: BoundedStream, kinds: tuple[str, ...], tag: str | list[str] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a document as they begin or end. Raises LoadRefused where it is no well-formed XML."""
    try:
        for event, element in etree.iterparse(source, events=kinds, tag=tag, **SAFE):
            if isinstance(element.tag, str):
                yield event, element
    except etree.XMLSyntaxError as error:
        raise LoadRefused(
            f"{name}: is no well-formed XML: {str(error)[:200]}: correct it there; where it is a bare & or a name such "
            "as &nbsp;, mend_xml = true in the mapping mends it, as `itemindex ingest guess` writes it"
        ) from None


class WithoutEntities(BoundedStream):
    """A declaration of entities ends the reading: no feed needs one, and each could be a bomb."""

    def __init__(self, name: str, stream: ByteStream) -> None:
        super().__init__(name, stream, _BYTES_WITHOUT_ROW_MAX, "a row: is `records` another path?")
        self._tail = b""

    def read(self, size: int) -> bytes:
        chunk = super().read(size)
        seen = self._tail + chunk
        if b"<!ENTITY" in seen:
            raise LoadRefused(
                f"{self._name}: declares entities (<!ENTITY …>), names for texts that may grow without bound, and is "
                "not read. If you trust its source, write their texts into a copy with "
                "`xmllint --nonet --noent --dropdtd FILE > COPY.xml`, and load that"
            )
        self._tail = seen[-len(b"<!ENTITY") :]
        return chunk


def root_attributes(name: str, stream: ByteStream) -> list[str]:
    """Return the attributes of the outermost element as a document writes them, such as `prices date="2026-10-01"`."""
    _, root = next(events(name, WithoutEntities(name, stream), ("start",)))
    kept = {key: value for key, value in root.attrib.items() if not key.startswith("{")}
    return [f'{_name(root)} {key}="{value}"' for key, value in islice(kept.items(), COLUMNS_MAX)]


def _name(element: Any) -> str:
    """Return an element's name as the document writes it; one of the default namespace has no prefix."""
    tag: str = element.tag
    if not tag.startswith("{"):  # of no namespace, so that the prefix need not be looked up
        return tag
    _, _, local = tag.rpartition("}")
    return f"{element.prefix}:{local}" if element.prefix else local


def _tags_of(columns: Collection[str]) -> list[str]:
    """Return the tags of the parts that can hold columns; a point may also stand within the name of an element."""
    steps = (column.partition("[")[0].split(".") for column in columns)
    names = {".".join(path[:length]) for path in steps for length in range(1, len(path) + 1)}
    return sorted(f"{{*}}{local}" for name in names if _LOCAL_NAME.fullmatch(local := name.rpartition(":")[2]))


def _flatten(
    name: str, number: int, element: Any, prefix: str, row: Row, depth: int = 1, parts: Iterable[Any] | None = None
) -> None:
    """Add the parts of an element to a row; the first of a name is that name, the others have a number behind it."""
    if depth > DEPTH_MAX:
        raise LoadRefused(f"{name}: row {number}: elements are nested deeper than {DEPTH_MAX} levels")
    if len(element.attrib) > COLUMNS_MAX:  # to read them takes the square of their number
        raise LoadRefused(f"{name}: row {number}: has more than {COLUMNS_MAX:,} parts")
    for attribute, value in element.items():
        row[f"{prefix}@{attribute.rpartition('}')[2]}"] = value
    seen: dict[str, int] = {}
    for child in element if parts is None else parts:
        own = child.tag
        if not isinstance(own, str):
            raise LoadRefused(
                f"{name}: row {number}: refers to an entity, which is not read; mend_xml = true in the mapping takes "
                "the names of HTML, such as &nbsp;, for their characters"
            )
        if own[0] == "{":
            own = _name(child)
        times = seen[own] = seen.get(own, -1) + 1
        path = f"{prefix}{own}.{times}" if times else prefix + own
        text = (child.text or "").strip()
        inner, attributes = len(child), child.keys()
        if not inner and not attributes:  # as most are
            row[path] = text
        else:
            if not inner and (named := child.get("name") or child.get("domain")):
                row.setdefault(f"{prefix}{own}[{named}]", text)
            elif inner == len(KEY_AND_VALUE) and (pair := _key_and_value(child)):
                row[f"{prefix}{own}[{pair[0]}]"] = pair[1]
            _flatten(name, number, child, f"{path}.", row, depth + 1)
            if text or not inner:
                row.setdefault(path, text)
        if len(row) > COLUMNS_MAX:
            raise LoadRefused(f"{name}: row {number}: has more than {COLUMNS_MAX:,} parts")


def _key_and_value(element: Any) -> tuple[str, str] | None:
    """Return the key and the value of a part that has two parts; None where these are others."""
    if any(len(part) or not isinstance(part.tag, str) for part in element):
        return None
    if not all(part.tag.lower().endswith(ends) for part, ends in zip(element, KEY_AND_VALUE, strict=True)):
        return None
    key, value = ((part.text or "").strip() for part in element)
    return (key, value) if key else None


def forget(element: Any) -> None:
    """Give the memory of a finished element back, and of all before it, which it and those around it still hold."""
    element.clear()
    for one in (element, *element.iterancestors()):
        while one.getprevious() is not None:
            del one.getparent()[0]
