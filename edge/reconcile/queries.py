"""Batches of reconciliation queries, from JSON text to what is asked for each row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from edge.http.faults import Fault
from edge.http.json import decode_json
from edge.http.problems import invalid_parameters
from edge.http.validation import shown_name
from edge.reconcile.entities import PROPERTIES, EntityType, read_entity_id
from shared.articles.table_rows import CANDIDATES_MAX, TableRow
from shared.errors import InvalidJson, InvalidParameter
from shared.index.identifiers import NUMBER_CHARACTERS_MIN, NUMBER_SCHEMES, gtin_of
from shared.json_types import JsonValue
from shared.text import in_ascii

_TEXT_MAX = 1_000
_VALUES_MAX = 20
_PIDS = tuple(one.id for one in PROPERTIES)
_TYPES = ", ".join(EntityType)
_DEFAULT_CANDIDATES = 5
Checked = TypeVar("Checked")


@dataclass(frozen=True, slots=True)
class ReconciliationQuery:
    """One query: the text to match, of which types, what it says of an item, and how many candidates it wants."""

    text: str
    types: tuple[EntityType, ...]
    row: TableRow
    limit: int


class _Property(msgspec.Struct, forbid_unknown_fields=True):
    pid: str
    v: object


class _Query(msgspec.Struct, forbid_unknown_fields=True):
    query: str = ""
    type: str | list[str] = msgspec.field(default_factory=list)
    limit: int | float = _DEFAULT_CANDIDATES
    properties: list[_Property] = msgspec.field(default_factory=list)
    type_strict: str = "any"


def json_object(parameter: str, value: JsonValue) -> Mapping[str, JsonValue]:
    """Return a JSON object that came as text, as a form has it, or as itself. Raises InvalidParameter."""
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except InvalidJson as error:
            raise InvalidParameter(parameter, f"must be JSON: {error.detail}") from None
    if not isinstance(value, dict):
        raise InvalidParameter(parameter, "must be a JSON object")
    return value


def read_queries(parameter: str, batch: Mapping[str, JsonValue]) -> dict[str, ReconciliationQuery]:
    """Return the queries of a batch by their ids. Raises the problem that names each query that is wrong."""
    queries: dict[str, ReconciliationQuery] = {}
    faults: list[Fault] = []
    for name, given in batch.items():
        try:
            queries[name] = _read(given)
        except InvalidParameter as error:
            beside = f".{error.parameter}" if error.parameter else ""
            faults.append(Fault(f"{parameter}.{shown_name(name)}{beside}", error.detail, error.value))
    if faults:
        raise invalid_parameters(faults)
    return queries


def _read(given: JsonValue) -> ReconciliationQuery:
    query = _convert(given)
    types = [query.type] if isinstance(query.type, str) else query.type
    unknown = next((one for one in types if one not in list(EntityType)), None)
    if unknown is not None:
        raise InvalidParameter("type", f"must be one of {_TYPES}", unknown)
    if query.limit < 1 or query.limit != int(query.limit):
        raise InvalidParameter("limit", "must be a whole number above zero", query.limit)
    said: dict[str, list[str]] = {}
    for one in query.properties:
        if one.pid not in _PIDS:
            raise InvalidParameter("properties", f"has an unknown `pid`; allowed: {', '.join(_PIDS)}", one.pid)
        values = said.setdefault(one.pid, [])
        values.extend(_texts(one.v))
        if len(values) > _VALUES_MAX:  # also where the property comes many times: a row costs the same, however long
            raise InvalidParameter("properties", f"may have at most {_VALUES_MAX} values of a property in a query")
    text = _clean("query", query.query)
    if not text and not query.properties:
        raise InvalidParameter("", "needs `query` or `properties`")
    return ReconciliationQuery(
        text,
        tuple(dict.fromkeys(map(EntityType, types))) or (EntityType.ITEM,),
        _row(text, said),
        min(int(query.limit), CANDIDATES_MAX),
    )


def _convert(given: JsonValue) -> _Query:
    try:
        return msgspec.convert(given, _Query)
    except msgspec.ValidationError as error:
        sentence, _, place = str(error).partition(" - at `$")
        parameter = place.strip(".`").partition(".")[0].partition("[")[0]
        raise InvalidParameter(parameter, f"is not as the specification has it: {sentence}") from None


def _row(text: str, said: Mapping[str, Sequence[str]]) -> TableRow:
    """Return what is said of an item. A number that cannot be a GTIN says nothing: other fields may be right."""
    number = _gtin_of_number(text) if len(text) >= NUMBER_CHARACTERS_MIN else None
    gtins = [number, *map(_gtin_of_number, said.get("gtin", ()))]
    first = {pid: values[0] for pid, values in said.items() if values}
    return TableRow(
        name="" if number else text,
        brand=first.get("brand", ""),
        mpn=first.get("mpn", ""),
        size=_clean("properties", " ".join(said.get("size", ()))),
        gtins=tuple(dict.fromkeys(gtin for gtin in gtins if gtin is not None)),
    )


def _gtin_of_number(text: str) -> str | None:
    """Return a GTIN, EAN, UPC or ISBN in 14 digits; None where the text is none."""
    number = in_ascii(text)
    return next((gtin for scheme in NUMBER_SCHEMES if (gtin := gtin_of(scheme, number))), None)


def _texts(value: object) -> Iterator[str]:
    """Yield the values of a property as texts: of an entity its name, or what its id names."""
    values = value if isinstance(value, list) else [value]
    if len(values) > _VALUES_MAX:
        raise InvalidParameter("properties", f"may have at most {_VALUES_MAX} values in a `v`")
    for one in values:
        match one:
            case bool():
                continue
            case str():
                text = one
            case float() if one.is_integer():
                text = str(int(one))
            case int() | float():
                text = str(one)
            case dict():
                text = str(one.get("name") or _named(str(one.get("id") or "")))
            case _:
                continue
        if cleaned := _clean("properties", text):
            yield cleaned


def _named(id: str) -> str:
    entity = read_entity_id(id)
    return id if entity is None else entity.value


def _clean(parameter: str, text: str) -> str:
    """Return a text without NUL, which PostgreSQL cannot keep, and without spaces around it."""
    cleaned = text.replace("\0", " ").strip()
    if len(cleaned) > _TEXT_MAX:
        raise InvalidParameter(parameter, f"must have at most {_TEXT_MAX:,} characters")
    return cleaned
