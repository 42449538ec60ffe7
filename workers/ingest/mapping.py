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
from workers.ingest.fields import AltNames, FactorFields, Impact, ItemFields, ObservationFields, key
from workers.ingest.mapping_tables import Tables

# The `[match]` section of a mapping: the items of a source that may be linked with other sources, and the evidence.


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
    read = tables.read(MatchRules, given, where)
    rules = MatchRules(**read | {"own_identifiers": tuple(sorted(read.get("own_identifiers", ())))})
    known = {scheme for scheme, _ in item.identifiers} if item else set()
    for scheme in (*rules.own_identifiers, *([rules.article_identifier] if "article_identifier" in read else [])):
        if scheme not in known:
            tables.refuse(f"{where} names the scheme `{scheme}`, which [item.identifiers] does not have")
    return rules


# A mapping: which column of a file is what, and how to clean it. Read from TOML into frozen values.


_SOURCE = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
_LEVELS_MAX = 8
_SKIPPED_MAX = 1_000


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
    on_error: Literal["row", "field"] = key(
        "The default `on_error` of all fields; default: `row`.", 'on_error = "field"', default="row"
    )
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
    lenient_columns: frozenset[str] = field(default=frozenset())
    null_texts: dict[str, frozenset[str]] = field(default_factory=dict)
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

    def refuse_second_file(self) -> None:
        """Raise LoadRefused where the mapping names a second file: there is none beside a feed or an upload."""
        if self.item is not None and self.item.alt_names is not None:
            raise LoadRefused("`alt_names` needs a second file, which feeds and uploads do not have; remove it")

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
        tables = self._tables
        plain = tables.read(Mapping, document, "the mapping", _TABLES)
        if not _SOURCE.fullmatch(plain["source"]):
            self._refuse("source must be lower-case letters, digits and underscores, and begin with a letter")
        if ("factors" in document) == ("item" in document):
            self._refuse("there must be either [item] (with or without [observation]) or [factors]")
        self._check_form(Mapping(**plain, text="", path=path))
        tables.on_error = plain.get("on_error", "row")
        item = self._item(document["item"]) if "item" in document else None
        impacts = self._impacts(document.get("impacts", []))
        item_columns = tuple(dict.fromkeys(tables.columns))
        item_file_names = tuple(tables.file_names)
        observations = self._observations(document.get("observation"))
        if item and item.join_by and not (observations or impacts):
            self._refuse("[item] join_by needs [observation] or [[impacts]], which say what is loaded")
        factors = self._factors(document["factors"]) if "factors" in document else None
        rules = read_rules(tables, document.get("match", {}), item)
        return Mapping(
            **plain | self._place(plain),
            item=item,
            observations=observations,
            factors=factors,
            impacts=impacts,
            match=rules,
            text=text,
            path=path,
            columns=tuple(dict.fromkeys(tables.columns)),
            item_columns=item_columns,
            item_file_names=item_file_names,
            sparse_columns=frozenset(tables.sparse),
            lenient_columns=tables.lenient_columns(),
            null_texts=tables.null_texts,
            loaded_on=tables.loaded_on,
        )

    def _check_form(self, given: Mapping) -> None:
        """Check how a file is written, and the numbers."""
        delimiter, quote, escape = given.delimiter, given.quote, given.escape
        try:
            "".encode(given.encoding)
        except (LookupError, ValueError):
            self._refuse(f"encoding {given.encoding!r} is not known")
        if len(delimiter.encode()) != 1 or delimiter in "\r\n\0":
            self._refuse("delimiter must be one ASCII character")
        if len(quote.encode()) > 1 or quote in ("\r", "\n", "\0", delimiter):
            self._refuse("quote must be one ASCII character that is not the delimiter, or empty")
        if len(escape.encode()) > 1 or escape in ("\r", "\n", "\0", delimiter, *([quote] if quote else [])):
            self._refuse("escape must be one ASCII character that is neither the delimiter nor the quotation mark")
        if type(given.skip_rows) is not int or not 0 <= given.skip_rows <= _SKIPPED_MAX:
            self._refuse(f"skip_rows must be a whole number from 0 to {_SKIPPED_MAX}")
        limit, rank = given.rejects_max, given.rank
        if limit is not None and (type(limit) is not int or limit < 0):
            self._refuse("rejects_max must be a whole number that is not negative")
        if rank is not None and (type(rank) is not int or not 0 <= rank <= 32_767):
            self._refuse("rank must be a whole number from 0 to 32,767; the lowest takes precedence")

    def _place(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Read which cells are filled down, and note the columns that say which rows are read."""
        columns = self._tables.columns
        read = {}
        if "fill_down" in plain:
            rule = read["fill_down"] = FillDown(**self._tables.read(FillDown, plain["fill_down"], "fill_down"))
            columns += [rule.within, *rule.columns]
        columns += filter(None, [plain.get("rows_with")])
        return read

    def _item(self, given: Any) -> ItemFields:
        tables, where = self._tables, "[item]"
        join_by = given.get("join_by") if isinstance(given, dict) else None
        if join_by:
            tables.only(given, ("id", "join_by", "join_source"), "[item] with join_by")
        item = tables.read(ItemFields, given, where)
        if not join_by and "name" not in item:
            self._refuse("[item] needs `name` (or `join_by`, to find items that the index has)")
        if join_by and not _SCHEME.fullmatch(join_by):
            self._refuse("[item] join_by must be id, iid or an identifier scheme")
        if len(item.get("category", ())) > _LEVELS_MAX:
            self._refuse(f"[item] category has {_LEVELS_MAX} levels at most")
        names = {"alt_names": self._alt_names(item["alt_names"])} if "alt_names" in item else {}
        return ItemFields(**item | names)

    def _alt_names(self, given: Any) -> AltNames:
        where = "[item] alt_names"
        read = AltNames(**self._tables.read(AltNames, given, where))
        file = read.file
        if Path(file).name != file or file in (".", "..") or "\\" in file or "\0" in file:
            self._refuse(f"{where} file must be the plain name of a file beside the data or the mapping")
        return read

    def _observations(self, given: Any) -> tuple[ObservationFields, ...]:
        listed = tuple(map(self._observation, _listed(given)))
        if len({spec.identity for spec in listed}) > 1:
            self._refuse("[[observation]] must have one identity in all its tables")
        return listed

    def _observation(self, given: Any) -> ObservationFields:
        where, kind = "[observation]", given.get("kind") if isinstance(given, dict) else None
        if isinstance(kind, str):
            if kind not in ("listing", "sale"):
                self._refuse(f"{where} kind must be one of listing, sale, or a table that names a column of these two")
            given = {**given, "kind": {"constant": kind}}
        read = ObservationFields(**self._tables.read(ObservationFields, given, where))
        if read.currency.constant is not None and read.currency.constant not in CURRENCIES:
            self._refuse(f"{where} currency must be a code of ISO 4217, three capital letters")
        return read

    def _factors(self, given: Any) -> FactorFields:
        factors = FactorFields(**self._tables.read(FactorFields, given, "[factors]"))
        for code, _ in factors.indicators:
            self._tables.one_of(code, CODES, "[factors] indicators")
        return factors

    def _impacts(self, given: Any) -> tuple[Impact, ...]:
        if not isinstance(given, list):
            self._refuse("[[impacts]] must be a list of tables")
        impacts = tuple(map(self._impact, given))
        totals = [impact.indicator for impact in impacts if impact.stage is None]
        if len(set(totals)) < len(totals):
            self._refuse("[[impacts]] gives the total of one indicator twice; a part of it has a `stage`")
        return impacts

    def _impact(self, given: Any) -> Impact:
        where = "[[impacts]]"
        impact = Impact(**self._tables.read(Impact, given, where))
        self._tables.one_of(impact.indicator, CODES, f"{where} indicator")
        if (impact.low is None) != (impact.high is None):
            self._refuse(f"{where} states both `low` and `high`, or none of them")
        if impact.stage and impact.has_spread:
            self._refuse(f"{where} of a stage has no `low`, `high` or `deviation`: they are of the total")
        return impact


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
