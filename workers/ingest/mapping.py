"""A mapping: which column of a file is what, and how to clean it. Read from TOML into frozen values."""

import hashlib
import re
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from shared.analytics.footprint import CODES, REFERENCE_YEARS
from shared.currencies import CODES as CURRENCIES
from shared.errors import LoadRefused
from workers.ingest.fields import AltNames, FactorFields, Impact, ItemFields, ObservationFields
from workers.ingest.mapping_tables import Tables

_SOURCE = re.compile(r"[a-z][a-z0-9_]{0,62}", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
_LEVELS_MAX = 8
_SKIPPED_MAX = 1_000
_OF_TOTALS = "`low`, `high`, `deviation`, `pedigree` or `reference_year`"

SECTION_COLUMN = "@section"
"""The name by which a mapping has the heading of a row as a column."""
_TABLES = ("item", "observation", "factors", "impacts", "match")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """How the source's items are compared with those of other sources, to find which are one article."""

    trust: Literal["all", "identifiers", "review"] = "all"
    never: bool = False
    own_identifiers: tuple[str, ...] = ()
    article_identifier: str | None = None
    one_per_source: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FillDown:
    """Columns whose empty cells have the value of the row above, as long as another column stays the same."""

    within: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """Rows with a text in one column and none in others, which are headings of the rows below."""

    column: str
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKeys:
    """The keys of a mapping outside of its tables: what the source is, and how its file is written."""

    source: str
    title: str
    license: str
    url: str | None = None
    attribution: str | None = None
    form: Literal["", "csv", "ndjson", "json", "xml", "sheet", "parquet"] = ""
    member: str = ""
    records: str = ""
    each: str = ""
    sheet: str = ""
    skip_rows: int = 0
    first_row: int = 0
    fill_down: FillDown | None = None
    sections: Sections | None = None
    rows_with: str = ""
    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    cells_span_lines: bool = False
    mend_xml: bool = False
    on_error: Literal["row", "field"] = "row"
    rejects_max: int | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping(TopKeys):
    """A whole mapping; `text` is what it was read from, and part of a load's identity."""

    item: ItemFields | None = None
    observations: tuple[ObservationFields, ...] = ()
    factors: FactorFields | None = None
    impacts: tuple[Impact, ...] = ()
    match: MatchRules = MatchRules()
    text: str
    path: Path
    columns: tuple[str, ...] = ()
    item_columns: tuple[str, ...] = ()
    item_file_names: tuple[str, ...] = ()
    sparse_columns: frozenset[str] = frozenset()
    lenient_columns: frozenset[str] = frozenset()
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
    def matching(self) -> dict[str, object]:
        """The rules of matching that differ from the usual ones, as the source's row keeps them."""
        own = {rule.name: getattr(self.match, rule.name) for rule in fields(MatchRules)}
        return {name: value for name, value in own.items() if value != getattr(MatchRules(), name)}

    @property
    def alt_names(self) -> AltNames | None:
        """The file of other names of its items."""
        return self.item.alt_names if self.item else None

    def refuse_second_file(self) -> None:
        """Raise LoadRefused where the mapping names a second file: there is none beside a feed or an upload."""
        if self.alt_names is not None:
            raise LoadRefused("`alt_names` needs a second file, which feeds and uploads do not have; remove it")

    @property
    def counts_events(self) -> bool:
        """Whether equal observations each count."""
        return bool(self.observations) and self.observations[0].identity == "event"


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


class _Reader(Tables):
    def mapping(self, document: dict[str, object], text: str, path: Path) -> Mapping:
        plain = self.read(TopKeys, document, "the mapping", _TABLES)
        if not _SOURCE.fullmatch(plain["source"]):
            self.refuse("source must be lower-case letters, digits and underscores, and begin with a letter")
        if ("factors" in document) == ("item" in document):
            self.refuse("there must be either [item] (with or without [observation]) or [factors]")
        self._check_form(TopKeys(**plain))
        self.on_error = plain.get("on_error", "row")
        item = self._item(document["item"]) if "item" in document else None
        impacts = self._impacts(document.get("impacts", []))
        item_columns = tuple(dict.fromkeys(self.columns))
        item_file_names = tuple(self.file_names)
        observations = self._observations(document.get("observation"))
        if item and item.join_by and not (observations or impacts):
            self.refuse("[item] join_by needs [observation] or [[impacts]], which say what is loaded")
        factors = self._factors(document["factors"]) if "factors" in document else None
        rules = self._rules(document.get("match", {}), item)
        return Mapping(
            **plain | self._place(plain),
            item=item,
            observations=observations,
            factors=factors,
            impacts=impacts,
            match=rules,
            text=text,
            path=path,
            columns=tuple(dict.fromkeys(self.columns)),
            item_columns=item_columns,
            item_file_names=item_file_names,
            sparse_columns=frozenset(self.sparse),
            lenient_columns=self.lenient_columns(),
            null_texts=self.null_texts,
            loaded_on=self.loaded_on,
        )

    def _check_form(self, given: TopKeys) -> None:
        """Check how a file is written, and the numbers."""
        delimiter, quote, escape = given.delimiter, given.quote, given.escape
        try:
            "".encode(given.encoding)
        except (LookupError, ValueError):
            self.refuse(f"encoding {given.encoding!r} is not known")
        if len(delimiter.encode()) != 1 or delimiter in "\r\n\0":
            self.refuse("delimiter must be one ASCII character")
        if len(quote.encode()) > 1 or quote in ("\r", "\n", "\0", delimiter):
            self.refuse("quote must be one ASCII character that is not the delimiter, or empty")
        if len(escape.encode()) > 1 or escape in ("\r", "\n", "\0", delimiter, *([quote] if quote else [])):
            self.refuse("escape must be one ASCII character that is neither the delimiter nor the quotation mark")
        if type(given.skip_rows) is not int or not 0 <= given.skip_rows <= _SKIPPED_MAX:
            self.refuse(f"skip_rows must be a whole number from 0 to {_SKIPPED_MAX}")
        if type(given.first_row) is not int or not 0 <= given.first_row <= 2 * _SKIPPED_MAX:
            self.refuse(f"first_row must be the number of a line, at most {2 * _SKIPPED_MAX}")
        limit, rank = given.rejects_max, given.rank
        if limit is not None and (type(limit) is not int or limit < 0):
            self.refuse("rejects_max must be a whole number that is not negative")
        if rank is not None and (type(rank) is not int or not 0 <= rank <= 32_767):
            self.refuse("rank must be a whole number from 0 to 32,767; the lowest takes precedence")

    def _place(self, plain: dict[str, object]) -> dict[str, FillDown | Sections]:
        """Read which cells are filled down, and note the columns that say which rows are read."""
        read: dict[str, FillDown | Sections] = {}
        if "fill_down" in plain:
            rule = read["fill_down"] = FillDown(**self.read(FillDown, plain["fill_down"], "fill_down"))
            self.columns += [rule.within, *rule.columns]
        if "sections" in plain:
            heading = read["sections"] = Sections(**self.read(Sections, plain["sections"], "sections"))
            self.columns += [heading.column, *heading.without]
            self.columns = [column for column in self.columns if column != SECTION_COLUMN]
        rows_with = plain.get("rows_with")
        self.columns += [rows_with] if rows_with and isinstance(rows_with, str) else []
        return read

    def _item(self, given: object) -> ItemFields:
        where = "[item]"
        join_by = given.get("join_by") if isinstance(given, dict) else None
        if join_by:
            self.only(given, ("id", "join_by", "join_source"), "[item] with join_by")
        item = self.read(ItemFields, given, where)
        if not join_by and "name" not in item:
            self.refuse("[item] needs `name` (or `join_by`, to find items that the index has)")
        if join_by and not _SCHEME.fullmatch(join_by):
            self.refuse("[item] join_by must be id, iid or an identifier scheme")
        if len(item.get("category", ())) > _LEVELS_MAX:
            self.refuse(f"[item] category has {_LEVELS_MAX} levels at most")
        names = {"alt_names": self._alt_names(item["alt_names"])} if "alt_names" in item else {}
        return ItemFields(**item | names)

    def _alt_names(self, given: object) -> AltNames:
        where = "[item] alt_names"
        read = AltNames(**self.read(AltNames, given, where))
        file = read.file
        if Path(file).name != file or file in (".", "..") or "\\" in file or "\0" in file:
            self.refuse(f"{where} file must be the plain name of a file beside the data or the mapping")
        return read

    def _observations(self, given: object) -> tuple[ObservationFields, ...]:
        listed = tuple(
            map(self._observation, given if isinstance(given, list) else [given] if given is not None else [])
        )
        if len({spec.identity for spec in listed}) > 1:
            self.refuse("[[observation]] must have one identity in all its tables")
        return listed

    def _observation(self, given: object) -> ObservationFields:
        where, kind = "[observation]", given.get("kind") if isinstance(given, dict) else None
        if isinstance(given, dict) and isinstance(kind, str):
            if kind not in ("listing", "sale"):
                self.refuse(f"{where} kind must be one of listing, sale, or a table that names a column of these two")
            given = {**given, "kind": {"constant": kind}}
        read = ObservationFields(**self.read(ObservationFields, given, where))
        if read.currency.constant is not None and read.currency.constant not in CURRENCIES:
            self.refuse(f"{where} currency must be a code of ISO 4217, three capital letters")
        return read

    def _rules(self, given: object, item: ItemFields | None) -> MatchRules:
        read = self.read(MatchRules, given, "[match]")
        rules = MatchRules(**read | {"own_identifiers": tuple(sorted(read.get("own_identifiers", ())))})
        known = {scheme for scheme, _ in item.identifiers} if item else set()
        for scheme in (*rules.own_identifiers, rules.article_identifier):
            if scheme is not None and scheme not in known:
                self.refuse(f"[match] names the scheme `{scheme}`, which [item.identifiers] does not have")
        return rules

    def _factors(self, given: object) -> FactorFields:
        factors = FactorFields(**self.read(FactorFields, given, "[factors]"))
        for code, _ in factors.indicators:
            self.one_of(code, CODES, "[factors] indicators")
        year = factors.reference_year
        if year is not None and (type(year) is not int or year not in REFERENCE_YEARS):
            self.refuse(f"[factors] reference_year must be a year from {REFERENCE_YEARS[0]} to {REFERENCE_YEARS[-1]}")
        return factors

    def _impacts(self, given: object) -> tuple[Impact, ...]:
        if not isinstance(given, list):
            self.refuse("[[impacts]] must be a list of tables")
        impacts = tuple(map(self._impact, given))
        totals = [impact.indicator for impact in impacts if impact.stage is None]
        if len(set(totals)) < len(totals):
            self.refuse("[[impacts]] gives the total of one indicator twice; a part of it has a `stage`")
        return impacts

    def _impact(self, given: object) -> Impact:
        where = "[[impacts]]"
        impact = Impact(**self.read(Impact, given, where))
        self.one_of(impact.indicator, CODES, f"{where} indicator")
        if (impact.low is None) != (impact.high is None):
            self.refuse(f"{where} states both `low` and `high`, or none of them")
        if impact.stage and impact.describes_total:
            self.refuse(f"{where} of a stage has no {_OF_TOTALS}: they are of the total")
        return impact
