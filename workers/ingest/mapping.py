"""A mapping: which column of somebody's file is what, and how to clean it. Read from TOML into frozen values."""

import re
import tomllib
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.errors import LoadRefused
from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields

_SOURCE = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
_FIELD_KEYS = {
    "column", "constant", "file_name", "trim", "strip", "thousands", "decimal", "format", "case", "null", "replace",
    "crosswalk", "split", "match", "multiply", "unit", "round",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """A whole mapping; `text` is what it was read from, and part of a load's identity."""

    source: str
    title: str
    license: str
    text: str
    path: Path
    url: str | None = None
    attribution: str | None = None
    delimiter: str = ","
    rank: int | None = None
    item: ItemFields | None = None
    observation: ObservationFields | None = None
    factors: FactorFields | None = None
    impacts: tuple[Impact, ...] = ()
    columns: tuple[str, ...] = field(default=())
    item_columns: tuple[str, ...] = field(default=())

    @property
    def counts_events(self) -> bool:
        """Whether equal observations each count."""
        return self.observation is not None and self.observation.identity == "event"


def read(path: Path) -> Mapping:
    """Read a mapping. Raises LoadRefused that names the key and what is allowed there."""
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LoadRefused(f"{path.name}: cannot be read as TOML: {error}") from None
    return _Reader(path.name).mapping(document, text, path)


class _Reader:
    """Turns a TOML document into values; remembers every column, so that a file can be checked before it is read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._columns: list[str] = []

    def mapping(self, document: dict[str, Any], text: str, path: Path) -> Mapping:
        known = {
            "source",
            "title",
            "license",
            "url",
            "attribution",
            "delimiter",
            "rank",
            "item",
            "observation",
            "factors",
            "impacts",
        }
        self._only(document, known, "the mapping")
        source = self._text(document, "source", "the mapping")
        if not _SOURCE.fullmatch(source):
            self._refuse("source must be lower-case letters, digits and underscores, and begin with a letter")
        if ("factors" in document) == ("item" in document):
            self._refuse("there must be either [item] (with or without [observation]) or [factors]")
        if "observation" in document and "item" not in document:
            self._refuse("[observation] needs [item], which says whose observation it is")
        item = self._item(document["item"]) if "item" in document else None
        impacts = tuple(self._impact(entry) for entry in document.get("impacts", ()))
        item_columns = tuple(dict.fromkeys(self._columns))
        observation = self._observation(document["observation"]) if "observation" in document else None
        factors = self._factors(document["factors"]) if "factors" in document else None
        return Mapping(
            source=source,
            title=self._text(document, "title", "the mapping"),
            license=self._text(document, "license", "the mapping"),
            url=document.get("url"),
            attribution=document.get("attribution"),
            delimiter=document.get("delimiter", ","),
            rank=self._rank(document.get("rank")),
            item=item,
            observation=observation,
            factors=factors,
            impacts=impacts,
            text=text,
            path=path,
            columns=tuple(dict.fromkeys(self._columns)),
            item_columns=item_columns,
        )

    def _rank(self, value: Any) -> int | None:
        if value is not None and (type(value) is not int or not 0 <= value <= 32_767):
            self._refuse("rank must be a whole number from 0 to 32,767; the lowest takes precedence")
        return int(value) if value is not None else None

    def _item(self, table: dict[str, Any]) -> ItemFields:
        self._only(table, set(ItemFields.__slots__), "[item]")
        names = table.get("alt_names")
        return ItemFields(
            id=self._needed(table, "id", "[item]"),
            name=self._needed(table, "name", "[item]"),
            iid=self._optional(table, "iid"),
            brand=self._optional(table, "brand"),
            category=tuple(self._field(spec, "[item] category") for spec in _listed(table.get("category"))),
            product_type=self._optional(table, "product_type"),
            first_seen_on=self._optional(table, "first_seen_on"),
            alt_names=AltNames(file=names["file"], keys=tuple(names.get("keys", ["name"]))) if names else None,
            identifiers=self._named(table, "identifiers"),
            attributes=self._named(table, "attributes"),
        )

    def _observation(self, table: dict[str, Any]) -> ObservationFields:
        where = "[observation]"
        self._only(table, set(ObservationFields.__slots__), where)
        currency = self._needed(table, "currency", where)
        if currency.constant is not None and not _CURRENCY.fullmatch(currency.constant):
            self._refuse("[observation] currency must be three capital letters, as in ISO 4217")
        return ObservationFields(
            day=self._needed(table, "day", where),
            channel=self._needed(table, "channel", where),
            price=self._needed(table, "price", where),
            currency=currency,
            kind=self._one_of(table, "kind", ("listing", "sale"), where),
            identity=self._one_of(table, "identity", ("state", "event"), where),
            list_price=self._optional(table, "list_price"),
            units=self._optional(table, "units"),
            event_key=tuple(self._field(spec, "[observation] event_key") for spec in _listed(table.get("event_key"))),
        )

    def _factors(self, table: dict[str, Any]) -> FactorFields:
        self._only(table, set(FactorFields.__slots__), "[factors]")
        return FactorFields(
            code=self._needed(table, "code", "[factors]"),
            indicators=self._named(table, "indicators"),
            method=self._text(table, "method", "[factors]"),
            scope=self._one_of(table, "scope", ("category", "product_type"), "[factors]"),
        )

    def _impact(self, table: dict[str, Any]) -> Impact:
        self._only(table, set(Impact.__slots__), "[[impacts]]")
        return Impact(
            indicator=self._one_of(table, "indicator", ("co2e_kg", "water_l", "waste_kg"), "[[impacts]]"),
            value=self._needed(table, "value", "[[impacts]]"),
            basis=self._one_of(table, "basis", ("measured", "modelled"), "[[impacts]]"),
            method=self._text(table, "method", "[[impacts]]"),
        )

    def _field(self, spec: Any, where: str) -> Field:
        if isinstance(spec, str):
            spec = {"column": spec}
        if not isinstance(spec, dict):
            self._refuse(f"{where} must be a column's name or a table")
        self._only(spec, _FIELD_KEYS, where)
        origins = [key for key in ("column", "constant", "file_name") if key in spec]
        if len(origins) != 1:
            self._refuse(f"{where} needs exactly one of column, constant, file_name")
        if "column" in spec:
            self._columns.append(spec["column"])
        self._pattern(spec.get("match", ""), where)
        self._pattern(spec.get("file_name", ""), where)
        self._one_of(spec, "round", ("half-even",), where)
        given = dict(spec)
        if "null" in given:
            given["null"] = ("", *given["null"])
        for name in ("replace", "crosswalk"):
            if name in given:
                given[name] = tuple((str(k), str(v)) for k, v in given[name].items())
        for name in ("constant", "multiply"):
            if name in given:
                given[name] = str(given[name])
        return Field(**given)

    def _pattern(self, pattern: str, where: str) -> None:
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            self._refuse(f"{where}: {pattern!r} is no regular expression: {error}")
        else:
            if groups > 1:
                self._refuse(f"{where}: {pattern!r} must have one group at most, which is the value")

    def _needed(self, table: dict[str, Any], key: str, where: str) -> Field:
        if key not in table:
            self._refuse(f"{where} needs `{key}`")
        return self._field(table[key], f"{where} {key}")

    def _optional(self, table: dict[str, Any], key: str) -> Field | None:
        return self._field(table[key], key) if key in table else None

    def _named(self, table: dict[str, Any], key: str) -> tuple[tuple[str, Field], ...]:
        return tuple((name, self._field(spec, f"{key}.{name}")) for name, spec in table.get(key, {}).items())

    def _one_of(self, table: dict[str, Any], key: str, allowed: tuple[str, ...], where: str) -> Any:
        value = table.get(key, allowed[0])
        if value not in allowed:
            self._refuse(f"{where} {key} must be one of {', '.join(allowed)}")
        return value

    def _text(self, table: dict[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            self._refuse(f"{where} needs `{key}`, a text")
        return str(value)

    def _only(self, table: Dictionary[str, Any], known: set[str], where: str) -> None:
        if not isinstance(table, dict):
            self._refuse(f"{where} must be a table")
        unknown = sorted(set(table) - known)
        if unknown:
            self._refuse(f"{where} does not know `{unknown[0]}`; it knows {', '.join(sorted(known))}")

    def _refuse(self, text: str) -> Any:
        raise LoadRefused(f"{self._name}: {text}")


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
