"""A mapping: which column of a file is what, and how to clean it. Read from TOML into frozen values."""

import hashlib
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from shared.analytics.footprint import CODES
from shared.errors import LoadRefused
from shared.money import CODES as CURRENCIES
from workers.ingest.fields import AltNames, FactorFields, Field, Impact, ItemFields, ObservationFields, key
from workers.ingest.mapping_tables import Tables

# The `[match]` section of a mapping: the items of a source that may be linked with other sources, and the evidence.


_TRUST = ("all", "identifiers", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """How the source's items are compared with those of other sources, to find which are one article."""

    trust: Literal["all", "identifiers", "review"] = key(
        "Which links are made without review: `all` that are practically certain, only those proven by "
        "`identifiers`, or none (`review`).",
        'trust = "identifiers"',
        default="all",
    )
    never: bool = key("Never link the source's items with others.", "never = true", default=False)
    own_identifiers: tuple[str, ...] = key(
        "Schemes of `[item.identifiers]` that the source assigns itself, such as a `gtin` that is not a real "
        "GTIN. They are not compared with those of other sources.",
        'own_identifiers = ["gtin"]',
        default=(),
    )
    article_identifier: str | None = key(
        "The scheme that marks which of the source's own items are the same item; without it they all stay separate.",
        'article_identifier = "style_code"',
        default=None,
    )

    def terms(self) -> dict[str, Any]:
        """Return the rules that differ from the usual ones."""
        usual = MatchRules()
        given = {rule.name: getattr(self, rule.name) for rule in fields(self)}
        return {name: value for name, value in given.items() if value != getattr(usual, name)}


def read_rules(tables: Tables, given: Any, item: ItemFields | None) -> MatchRules:
    """Read the section. Raises LoadRefused, also for a scheme that the mapping's items do not have."""
    where = "[match]"
    table = tables.keys_of(MatchRules, given, where)
    never, own = table.get("never", False), table.get("own_identifiers", [])
    if not isinstance(never, bool):
        tables.refuse(f"{where} never must be true or false")
    if not isinstance(own, list) or not all(isinstance(scheme, str) for scheme in own):
        tables.refuse(f"{where} own_identifiers must be a list of strings")
    article = tables.optional_text(table, "article_identifier", where)
    known = {scheme for scheme, _ in item.identifiers} if item else set()
    for scheme in (*own, *([article] if article is not None else [])):
        if scheme not in known:
            tables.refuse(f"{where} names the scheme `{scheme}`, which [item.identifiers] does not have")
    trust = tables.one_of(table, "trust", _TRUST, where, "all")
    return MatchRules(trust=trust, never=never, own_identifiers=tuple(sorted(own)), article_identifier=article)


# A mapping: which column of a file is what, and how to clean it. Read from TOML into frozen values.


_SOURCE = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
_LEVELS_MAX = 8
_SKIPPED_MAX = 1_000
_FORMS = ("csv", "ndjson", "json", "xml", "sheet", "parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class FillDown:
    """Columns whose empty cells have the value of the row above, as long as another column stays the same."""

    within: str = key("The column whose value identifies the group of rows.", 'within = "Handle"')
    columns: tuple[str, ...] = key("The columns to fill.", 'columns = ["Title", "Vendor"]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """A whole mapping; `text` is what it was read from, and part of a load's identity."""

    source: str = key(
        "The source's name: lower-case letters, digits, underscores. All loads with this name belong to the "
        "same source.",
        'source = "my_shop"',
    )
    title: str = key("The source's title, as shown in responses.", 'title = "My shop\'s price list"')
    license: str = key("The terms of the data, preferably an SPDX identifier.", 'license = "CC-BY-4.0"')
    url: str | None = key("The address of the source.", 'url = "https://example.org/prices"', default=None)
    attribution: str | None = key("The source's name in citations.", 'attribution = "My shop"', default=None)
    form: Literal["", "csv", "ndjson", "json", "xml", "sheet", "parquet"] = key(
        "The file format, if its content would be detected as another: `csv`, `ndjson`, `json`, `xml`, "
        "`sheet` (XLSX, XLS, ODS) or `parquet`.",
        'form = "csv"',
        default="",
    )
    member: str = key(
        "For ZIP and tar: the file to read, by name or a pattern such as `*.csv`; not needed if the archive "
        "has only one file.",
        'member = "products/*.csv"',
        default="",
    )
    records: str = key(
        "For XML: the path of the elements that are rows. For JSON: the path of the list of rows; default: "
        "the document itself.",
        'records = "rss/channel/item"',
        default="",
    )
    each: str = key(
        "For JSON and NDJSON: the list within each object whose members are the rows, such as a product's variants; "
        "what the object itself has belongs to each. `variants.price` is then the price of one.",
        'each = "variants"',
        default="",
    )
    sheet: str = key(
        "For spreadsheets: the name of the sheet; not needed if only one has rows.", 'sheet = "Prices"', default=""
    )
    skip_rows: int = key(
        "For CSV and spreadsheets: the number of lines above the header, such as titles. A first line `sep=;`"
        " is always skipped.",
        "skip_rows = 2",
        default=0,
    )
    fill_down: FillDown | None = key(
        "Columns that a source fills only once for several rows, such as the title of a Shopify product with variants.",
        'fill_down = { within = "Handle", columns = ["Title", "Vendor"] }',
        default=None,
    )
    rows_with: str = key(
        "Only rows with a value in this column are read, after `fill_down`; the others are no items, such as the rows "
        "of a Shopify product's further images.",
        'rows_with = "Variant Price"',
        default="",
    )
    encoding: str = key(
        "For CSV and NDJSON: `latin-1`, `cp1252`, `utf-16` and others; default: `utf-8`. A byte order mark is"
        " always recognized.",
        'encoding = "cp1252"',
        default="utf-8",
    )
    delimiter: str = key("For CSV: the separator between cells; default: a comma.", 'delimiter = ";"', default=",")
    quote: str = key(
        'For CSV: the quotation mark around cells; `""` if quotation marks are ordinary characters.',
        'quote = ""',
        default='"',
    )
    escape: str = key(
        "For CSV: the character that escapes a quotation mark; default: none.",
        'escape = "\\\\"',
        default="",
    )
    cells_span_lines: bool = key(
        "For CSV: quoted cells may contain lines that look like rows. Without it such lines are rejected, "
        "because they usually come from a stray quotation mark.",
        "cells_span_lines = true",
        default=False,
    )
    on_error: str = key("The default `on_error` of all fields; default: `row`.", 'on_error = "field"', default="row")
    rejects_max: int | None = key(
        "The maximum number of rejected rows; with more, the load fails and changes nothing.",
        "rejects_max = 100",
        default=None,
    )
    rank: int | None = key(
        "Decides between sources that provide the same field of an item: the lowest rank (0 to 32,767) wins; "
        "among equal ranks, or without any, the newest value.",
        "rank = 10",
        default=None,
    )
    item: ItemFields | None = None
    observations: tuple[ObservationFields, ...] = ()
    factors: FactorFields | None = None
    impacts: tuple[Impact, ...] = ()
    match: MatchRules = MatchRules()
    text: str
    path: Path
    columns: tuple[str, ...] = field(default=())
    item_columns: tuple[str, ...] = field(default=())
    item_file_names: tuple[str, ...] = field(default=())
    sparse_columns: frozenset[str] = field(default=frozenset())
    loaded_on: str | None = None

    @property
    def digest(self) -> str:
        """The digest of its text, by which loads name it."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def brings_items(self) -> bool:
        """Whether a load says anything of items themselves, and not only of their observations."""
        return self.item is not None and (not self.item.join_by or bool(self.impacts))

    @property
    def matching(self) -> dict[str, Any]:
        """The rules of matching, as the source's row keeps them."""
        return self.match.terms()

    @property
    def counts_events(self) -> bool:
        """Whether equal observations each count."""
        return bool(self.observations) and self.observations[0].identity == "event"


_TABLES = ("item", "observation", "factors", "impacts", "match")


def read(path: Path) -> Mapping:
    """Read a mapping. Raises LoadRefused that names the key and what is allowed there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadRefused(f"{path.name}: cannot be read as TOML: {error}") from None
    return parse(text, path)


def parse(text: str, path: Path = Path("mapping.toml")) -> Mapping:
    """Read the text of a mapping, which errors call by the name of `path`. Raises LoadRefused as `read` does."""
    # The text is part of a load's digest, and a browser's form sends other line ends than the file had.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LoadRefused(f"{path.name}: cannot be read as TOML: {error}") from None
    return _Reader(path.name).mapping(document, text, path)


class _Reader:
    def __init__(self, name: str) -> None:
        self._tables = Tables(name)
        self._refuse = self._tables.refuse

    def mapping(self, document: dict[str, Any], text: str, path: Path) -> Mapping:
        tables, where = self._tables, "the mapping"
        plain = [key.name for key in fields(Mapping) if key.metadata]
        tables.only(document, (*plain, *_TABLES), where)
        options = {name: tables.optional_text(document, name, where) for name in ("url", "attribution")}
        source = tables.text(document, "source", where)
        if not _SOURCE.fullmatch(source):
            self._refuse("source must be lower-case letters, digits and underscores, and begin with a letter")
        if ("factors" in document) == ("item" in document):
            self._refuse("there must be either [item] (with or without [observation]) or [factors]")
        tables.on_error = tables.one_of(document, "on_error", ("row", "field"), where, "row")
        item = self._item(document["item"]) if "item" in document else None
        impacts = self._impacts(document.get("impacts", []))
        item_columns = tuple(dict.fromkeys(tables.columns))
        item_file_names = tuple(tables.file_names)
        observations = self._observations(document.get("observation"))
        if item and item.join_by and not (observations or impacts):
            self._refuse("[item] join_by needs [observation] or [[impacts]], which say what is loaded")
        return Mapping(
            source=source,
            title=tables.text(document, "title", where),
            license=tables.text(document, "license", where),
            **options,
            **self._form(document),
            **self._place(document),
            rejects_max=self._rejects_max(document),
            rank=self._rank(document.get("rank")),
            item=item,
            observations=observations,
            factors=self._factors(document["factors"]) if "factors" in document else None,
            impacts=impacts,
            match=read_rules(tables, document.get("match", {}), item),
            text=text,
            path=path,
            columns=tuple(dict.fromkeys(tables.columns)),
            item_columns=item_columns,
            item_file_names=item_file_names,
            sparse_columns=frozenset(tables.sparse),
            loaded_on=tables.loaded_on,
        )

    def _form(self, document: dict[str, Any]) -> dict[str, Any]:
        """Read how a file is written."""
        tables, where = self._tables, "the mapping"
        encoding = tables.optional_text(document, "encoding", where, "utf-8")
        try:
            "".encode(encoding)
        except (LookupError, ValueError):
            self._refuse(f"encoding {encoding!r} is not known")
        delimiter = tables.optional_text(document, "delimiter", where, ",")
        quote = tables.optional_text(document, "quote", where, '"')
        if len(delimiter.encode()) != 1 or delimiter in "\r\n\0":
            self._refuse("delimiter must be one ASCII character")
        if len(quote.encode()) > 1 or quote in ("\r", "\n", "\0", delimiter):
            self._refuse("quote must be one ASCII character that is not the delimiter, or empty")
        escape = tables.optional_text(document, "escape", where, "")
        if len(escape.encode()) > 1 or escape in ("\r", "\n", "\0", delimiter, *([quote] if quote else [])):
            self._refuse("escape must be one ASCII character that is neither the delimiter nor the quotation mark")
        spanning = document.get("cells_span_lines", False)
        if not isinstance(spanning, bool):
            self._refuse("cells_span_lines must be true or false")
        return {
            "encoding": encoding,
            "delimiter": delimiter,
            "quote": quote,
            "escape": escape,
            "cells_span_lines": spanning,
            "on_error": tables.on_error,
        }

    def _place(self, document: dict[str, Any]) -> dict[str, Any]:
        """Read where in a file its rows are."""
        tables, where = self._tables, "the mapping"
        skipped = document.get("skip_rows", 0)
        if type(skipped) is not int or not 0 <= skipped <= _SKIPPED_MAX:
            self._refuse(f"skip_rows must be a whole number from 0 to {_SKIPPED_MAX}")
        return {
            "form": tables.one_of(document, "form", _FORMS, where),
            **{
                name: tables.optional_text(document, name, where, "") for name in ("member", "records", "each", "sheet")
            },
            "skip_rows": skipped,
            "fill_down": self._fill_down(document["fill_down"]) if "fill_down" in document else None,
            "rows_with": self._rows_with(document),
        }

    def _fill_down(self, given: Any) -> FillDown:
        tables, where = self._tables, "fill_down"
        table = tables.keys_of(FillDown, given, where)
        columns = table["columns"]
        if not isinstance(columns, list) or not columns or not all(isinstance(name, str) for name in columns):
            self._refuse("fill_down columns must be a list of columns")
        within = tables.text(table, "within", where)
        tables.columns += [within, *columns]
        return FillDown(within=within, columns=tuple(columns))

    def _rows_with(self, document: dict[str, Any]) -> str:
        column = str(self._tables.optional_text(document, "rows_with", "the mapping", ""))
        self._tables.columns += [column] if column else []
        return column

    def _rejects_max(self, document: dict[str, Any]) -> int | None:
        value = document.get("rejects_max")
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            self._refuse("rejects_max must be a whole number that is not negative")
        return value

    def _rank(self, value: Any) -> int | None:
        if value is not None and (type(value) is not int or not 0 <= value <= 32_767):
            self._refuse("rank must be a whole number from 0 to 32,767; the lowest takes precedence")
        return int(value) if value is not None else None

    def _item(self, given: Any) -> ItemFields:
        tables, where = self._tables, "[item]"
        table = tables.keys_of(ItemFields, given, where)
        join_by = tables.optional_text(table, "join_by", where, "")
        if not join_by and "name" not in table:
            self._refuse("[item] needs `name` (or `join_by`, to find items that the index has)")
        if join_by:
            if not _SCHEME.fullmatch(join_by):
                self._refuse("[item] join_by must be id, iid or an identifier scheme")
            tables.only(table, ("id", "join_by", "join_source"), "[item] with join_by")
        return ItemFields(
            id=tables.field(table["id"], "[item] id", needed=True, exact_parts=True),
            name=tables.optional(table, "name", where, needed=True),
            iid=tables.optional(table, "iid", where),
            join_by=join_by,
            join_source=tables.optional_text(table, "join_source", where, ""),
            brand=tables.optional(table, "brand", where),
            category=self._category(table.get("category")),
            product_type=tables.optional(table, "product_type", where),
            first_seen_on=tables.optional(table, "first_seen_on", where, needed=True),
            alt_names=self._alt_names(table["alt_names"]) if "alt_names" in table else None,
            identifiers=tables.named(table, "identifiers", where),
            attributes=tables.named(table, "attributes", where),
        )

    def _category(self, given: Any) -> tuple[Field, ...]:
        levels = _listed(given)
        if len(levels) > _LEVELS_MAX:
            self._refuse(f"[item] category has {_LEVELS_MAX} levels at most")
        return tuple(self._tables.field(spec, "[item] category") for spec in levels)

    def _alt_names(self, given: Any) -> AltNames:
        where = "[item] alt_names"
        table = self._tables.keys_of(AltNames, {"keys": ["name"], **given} if isinstance(given, dict) else given, where)
        file = self._tables.text(table, "file", where)
        if Path(file).name != file or file in (".", "..") or "\\" in file or "\0" in file:
            self._refuse(f"{where} file must be the plain name of a file beside the data or the mapping")
        keys = table["keys"]
        if not isinstance(keys, list) or not keys or not all(isinstance(text, str) for text in keys):
            self._refuse(f"{where} keys must be a list of strings")
        return AltNames(file=file, keys=tuple(keys))

    def _observations(self, given: Any) -> tuple[ObservationFields, ...]:
        listed = tuple(self._observation(table) for table in _listed(given))
        if len({spec.identity for spec in listed}) > 1:
            self._refuse("[[observation]] must have one identity in all its tables")
        return listed

    def _observation(self, given: Any) -> ObservationFields:
        tables, where = self._tables, "[observation]"
        table = tables.keys_of(ObservationFields, given, where)
        currency = tables.field(table["currency"], f"{where} currency", needed=True)
        if currency.constant is not None and currency.constant not in CURRENCIES:
            self._refuse(f"{where} currency must be a code of ISO 4217, three capital letters")
        kind = table.get("kind", "listing")
        if isinstance(kind, str):
            if kind not in ("listing", "sale"):
                self._refuse(f"{where} kind must be one of listing, sale, or a table that names a column of these two")
            kind = {"constant": kind}
        return ObservationFields(
            day=tables.field(table["day"], f"{where} day", needed=True),
            channel=tables.field(table["channel"], f"{where} channel", needed=True),
            price=tables.field(table["price"], f"{where} price"),
            currency=currency,
            kind=tables.field(kind, f"{where} kind", needed=True),
            identity=tables.one_of(table, "identity", ("state", "event"), where, "state"),
            list_price=tables.optional(table, "list_price", where),
            units=tables.optional(table, "units", where, needed=True),
            event_key=tuple(tables.field(spec, f"{where} event_key") for spec in _listed(table.get("event_key"))),
        )

    def _factors(self, given: Any) -> FactorFields:
        tables, where = self._tables, "[factors]"
        table = tables.keys_of(FactorFields, given, where)
        indicators = tables.named(table, "indicators", where)
        for code, _ in indicators:
            tables.one_of({"indicators": code}, "indicators", CODES, where)
        return FactorFields(
            code=tables.field(table["code"], f"{where} code", needed=True),
            indicators=indicators,
            method=tables.text(table, "method", where),
            scope=tables.one_of(table, "scope", ("category", "product_type"), where, "category"),
        )

    def _impacts(self, given: Any) -> tuple[Impact, ...]:
        if not isinstance(given, list):
            self._refuse("[[impacts]] must be a list of tables")
        impacts = tuple(self._impact(table) for table in given)
        totals = [impact.indicator for impact in impacts if impact.stage is None]
        if len(set(totals)) < len(totals):
            self._refuse("[[impacts]] gives the total of one indicator twice; a part of it has a `stage`")
        return impacts

    def _impact(self, given: Any) -> Impact:
        tables, where = self._tables, "[[impacts]]"
        table = tables.keys_of(Impact, given, where)
        stage = tables.optional(table, "stage", where, needed=True)
        low, high, deviation = (tables.optional(table, name, where) for name in ("low", "high", "deviation"))
        if (low is None) != (high is None):
            self._refuse(f"{where} states both `low` and `high`, or none of them")
        if stage and (low or deviation):
            self._refuse(f"{where} of a stage has no `low`, `high` or `deviation`: they are of the total")
        return Impact(
            indicator=tables.one_of(table, "indicator", CODES, where),
            value=tables.field(table["value"], f"{where} value"),
            basis=tables.one_of(table, "basis", ("measured", "modelled"), where),
            method=tables.text(table, "method", where),
            stage=stage,
            low=low,
            high=high,
            deviation=deviation,
        )


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
