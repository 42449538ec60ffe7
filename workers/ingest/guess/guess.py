"""A first mapping from a file: the likely meaning of its columns, as TOML with its evidence and every doubt.

A line is a guess only where the cells admit one reading. Where they admit two, the mapping has "?" and a load refuses
it until a person has chosen: the readings stand in the lines above, which begin with `# CHECK`.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TypedDict, cast

from shared.mapping_doubts import Doubt
from shared.printable import many
from shared.toml_text import as_toml, quoted, shown_text
from workers.ingest.calendar_days import parsed, shown
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.files.forms import UNPACKED_BYTES_MAX, opened, refused_by_name
from workers.ingest.files.xml_groups import GROUPS_MAX
from workers.ingest.guess.attributes import AttributeWriter
from workers.ingest.guess.categories import CategoryWriter, tree_field
from workers.ingest.guess.cell_kinds import gtin_by_cells
from workers.ingest.guess.column_roles import Guessed, by_names, prices_not_taken
from workers.ingest.guess.currencies import CurrencyWriter
from workers.ingest.guess.days import DayWriter
from workers.ingest.guess.field_guess import FieldGuess
from workers.ingest.guess.fill_down import fill_down_of
from workers.ingest.guess.identifiers import IdentifierWriter
from workers.ingest.guess.ids import IdWriter
from workers.ingest.guess.names import NameWriter
from workers.ingest.guess.prices import PriceWriter
from workers.ingest.guess.writer import columns_of, reading, short_form
from workers.ingest.sampling.read_sample import category_paths, sample_of
from workers.ingest.sampling.sample import Sample
from workers.ingest.shapes import read_by, recognized
from workers.ingest.whole_file import with_all_rows

_TIMES = ("%b %Y", "%B %Y", "%b-%Y", "%b %y", "%b-%y", "%Y-%m", "%m/%Y", "%m.%Y", "%Y-%m-%d", "%d.%m.%Y", "%G-W%V")

# What a page shows of a file's beginning.
_COLUMNS_SHOWN, _ROWS_SHOWN, _CELL_CHARACTERS = 60, 5, 60

_ON_DOUBTS = (
    "# Lines that begin with CHECK are for you to decide; then try the file with "
    "`itemindex ingest --mapping MAPPING --dry-run`."
)


class FirstRows(TypedDict):
    """The names of the first columns of a file, and their cells in its first rows, cut to a bounded length."""

    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Guess:
    """A mapping, the shape that was recognized, and what a person should look at."""

    lines: tuple[str | Doubt, ...]
    shape: str | None
    fields: tuple[FieldGuess, ...] = ()
    """What is known of each field by the names and cells of columns; empty where a shape says it all."""
    first_rows: FirstRows = field(default_factory=lambda: FirstRows(columns=[], rows=[]))

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What a person should look at."""
        return tuple(line for line in self.lines if isinstance(line, Doubt))

    @property
    def mapping(self) -> str:
        """The mapping as TOML without its doubts."""
        return "".join(f"{line}\n" for line in self.lines if not isinstance(line, Doubt))

    @property
    def text(self) -> str:
        """The mapping as TOML with each doubt as a comment before the line of its field."""
        first, *others = self.lines  # what the mapping was guessed from
        lines = [first, _ON_DOUBTS, *(written for line in others for written in _commented(line))]
        return "".join(f"{line}\n" for line in lines)


def _commented(line: str | Doubt) -> list[str]:
    if isinstance(line, str):
        return [line]
    readings = (f"# CHECK   {reading.statement}  # {reading.example}" for reading in line.readings)
    return [f"# CHECK {line.said}", *readings]


def guess(path: Path, *, member: str = "", sheet: str = "", unpacked_bytes_max: int = UNPACKED_BYTES_MAX) -> Guess:
    """Return a mapping for a file. Raises LoadRefused where the file cannot be read or has no items."""
    with opened(path, member, unpacked_bytes_max) as (_, found):
        sampled = with_all_rows(sample_of(found, member=member, sheet=sheet), found)
    shape = recognized(sampled)
    if shape is None:
        found_by_names = _by_names(path, sampled)
        down = fill_down_of(sampled, found_by_names.fields["item"])
        if down is None:
            return _Writer(path, sampled, found_by_names.fields, None, found_by_names.guesses).guess()
        name, within = quoted(down["columns"][0]), quoted(down["within"])
        same = f", as long as both have the same {within}" if within != name else ""
        said = f"name: a row without {name} gets that of the row above{same}"
        form, doubts = sampled.form | {"fill_down": down}, (*sampled.doubts, said)
        sampled = replace(read_by(sampled, form), form=form, doubts=doubts)
        fields, guesses = _by_names(path, sampled)
        return _Writer(path, sampled, fields, None, guesses).guess()
    if shape.tree is not None:
        paths = category_paths(path, shape.sampled.form, shape.tree, unpacked_bytes_max)
        if paths is None:
            too_many = f"category: more than {GROUPS_MAX:,} products have groups, too many for a mapping: none is used"
            shape = replace(shape, sampled=replace(shape.sampled, doubts=(*shape.sampled.doubts, too_many)))
        elif paths:
            shape.fields["item"]["category"] = tree_field(shape.ids_of_categories, paths)
    identifiers = shape.fields["item"].setdefault("identifiers", {})
    if "gtin" not in identifiers and (column := gtin_by_cells(shape.sampled)):
        identifiers["gtin"] = {"column": column}
    return _Writer(path, shape.sampled, shape.fields, shape).guess()


def _by_names(path: Path, sampled: Sample) -> Guessed:
    with refused_by_name(path):
        return by_names(sampled)


def _first_rows(sampled: Sample) -> FirstRows:
    columns = list(sampled.columns[:_COLUMNS_SHOWN])
    rows = [[_cell(row.get(column, "")) for column in columns] for row in sampled.rows[:_ROWS_SHOWN]]
    return FirstRows(columns=columns, rows=rows)


def _cell(text: str) -> str:
    return text[:_CELL_CHARACTERS].replace("\0", "\ufffd")  # PostgreSQL takes no NUL


class _Writer(
    IdWriter, NameWriter, CategoryWriter, IdentifierWriter, AttributeWriter, DayWriter, CurrencyWriter, PriceWriter
):
    """Writes the mapping of a file, line by line."""

    def guess(self) -> Guess:
        self._top()
        item = self.fields["item"]
        self._begin("item")
        self._id(item["id"])
        self._name(self._as_text("name", item["name"]))
        if "brand" in item:
            self._rival("brand", item["brand"])
            self._line("brand", self._as_text("brand", item["brand"]))
        if "category" in item:
            levels = item["category"] if isinstance(item["category"], list) else [item["category"]]
            texts = (self._as_text("category", level) for level in levels)
            self._category([text for text in texts if text != "?"])
        if "product_type" in item:
            self._line("product_type", self._as_text("product_type", item["product_type"]))
        self._identifiers(item.get("identifiers", {}))
        self._attributes(item.get("attributes", {}))
        self.lines += self.category_table
        if self.fields.get("observation", {}).get("price"):
            self._observation(dict(self.fields["observation"]))
        else:
            self._doubt(
                "observation",
                f"no column seems to be a price: the mapping brings items alone{self._wide()}{self._other_prices()}",
            )
        self._unused()
        doubts = [line for line in self.lines if isinstance(line, Doubt)]
        guessed = tuple(
            replace(one, doubts=tuple(doubt for doubt in doubts if doubt.of == one.field))
            for one in self.guesses.values()
        )
        return Guess(tuple(self.lines), self.shape.title if self.shape else None, guessed, _first_rows(self.sampled))

    def _top(self) -> None:
        source = re.sub(r"[^a-z0-9]+", "_", self.path.name.split(".")[0].lower()).strip("_") or "source"
        source = source if source[0].isalpha() else f"s_{source}"
        rows = len(self.sampled.rows)
        sampled = f"the first {rows:,} rows" if rows > 1 else "the first row"
        self.lines.append(f"# A first mapping, guessed from {sampled} of the file.")
        if self.shape:
            self.lines += [
                f"# Recognized: {self.shape.title}, because the file has the {self.sampled.part}s "
                f"{shown_text(self.shape.because)}.",
                f"# {self.shape.about}",
            ]
        self.lines += [
            f"source = {as_toml(source[:60])}  # with an item's id it makes the IID: keep it for ever",
            f"title = {as_toml(self.path.name)}  # as answers show it",
        ]
        self._doubt("license", "no file says under which terms its data is: write them here")
        self.lines.append('license = "unknown"')
        for text in self.sampled.doubts:
            of, _, sentence = text.partition(": ")
            self._doubt(of, sentence)
        for of, sentence in self.shape.doubts if self.shape else ():
            self._doubt(of, sentence)
        form = self.sampled.form | (self.shape.form if self.shape else {})
        self.lines += [f"{name} = {as_toml(value)}" for name, value in form.items()]

    def _observation(self, specs: dict[str, ColumnSpec]) -> None:
        self._begin("observation")
        if "match" in specs["price"] and not self.shape:
            stated = f"only {quoted(columns_of(specs['price'])[0])} states an amount in each text"
            self._doubt("price", f"{stated}, such as {quoted(self._cells(specs['price'])[0])}: is it the price?")
        specs["price"] = self._without_unit(specs["price"])
        self._sale_above_price(specs)
        self._other_sale(specs["price"])
        self._reduced(specs)
        price, listed = self._without_zeros(specs["price"], specs.get("list_price"))
        for name in ("day", "channel", "currency"):
            self._missing(name, specs.get(name, "?"), (price, self.fields["item"]["name"]))
        self._day(specs.get("day"))
        if "channel" in specs:
            self._rival("channel", specs["channel"])
            self._line("channel", specs["channel"])
        else:
            self._doubt("channel", "no column names the shop: write its name here")
            self.lines.append('channel = { constant = "SHOP" }')
        currency, marks, fixed = self._currency(price, specs.get("currency"))
        self._end_of_sale(price)
        written = self._price(price, marks, fixed)
        self.lines += currency
        if listed is not None:
            self._tax_of(specs["price"], listed)
            self._list_price(listed, marks, written)
        self.lines += [
            'kind = "listing"  # or "sale"',
            'identity = "state"  # or "event", where each row counts, as single sales do',
        ]
        units = specs.get("units")
        if units is not None:
            self._doubt(
                "units",
                f"{quoted(columns_of(units)[0])} is not used: it may be the stock. If it is the number of units that "
                "were sold at the price, add",
                (reading(f"units = {as_toml(short_form(units))}", f"{self._cells(units)[0]} units at that price"),),
            )

    def _other_prices(self) -> str:
        """Say which prices are not taken, such as those that a shop pays."""
        others = [] if self.shape else prices_not_taken(self.sampled)
        listed = " and ".join(quoted(column[:40]) for column in others[:2])
        return f". {listed} may be what a shop pays, or the price of a unit, and is not taken" if others else ""

    def _wide(self) -> str:
        """Say that prices stand in a column for each month or day, which are no rows of a mapping."""
        dated = [column for column in self.sampled.columns if _day_of_name(column) and self.sampled.values(column)]
        if len(dated) < 2:
            return ""
        listed = ", ".join(map(quoted, dated[:2]))
        day, price = as_toml({"constant": str(_day_of_name(dated[0]))}), quoted(dated[0])
        return (
            f". {listed} seem to have prices of a month or day each: make rows of them "
            f"(`unpivot`, `melt`), or write an [[observation]] for each, with day = {day} and price = {price}"
        )

    def _unused(self) -> None:
        used = set(_columns_within(self.fields)) | set(_columns_within(self.shape.form if self.shape else {}))
        used |= {column for one in self.guesses.values() for column in one.runners_up}
        rest = [column for column in self.sampled.columns if column not in used]
        if rest:
            self.lines += ["", f"# {self.sampled.part.capitalize()}s that are not used, and what they hold:"]
            self.lines += [f"# {quoted(column)}: {_described(self.sampled.values(column))}" for column in rest]


def _day_of_name(column: str) -> date | None:
    """Return the last day of the time that the name of a column states, such as `Jan 2026`; None where it has none."""
    day = parsed(column.strip(), _TIMES)
    return None if day is None else shown(day)


def _columns_within(value: object) -> list[str]:
    """Return all columns that the fields of a mapping read."""
    if isinstance(value, dict):
        own = columns_of(cast(ColumnSpec, value)) + ([value["within"]] if "within" in value else [])
        return own + [
            column
            for name, inner in value.items()
            if name not in ("replace", "crosswalk")
            for column in _columns_within(inner)
        ]
    if isinstance(value, list | tuple):
        return [column for inner in value for column in _columns_within(inner)]
    return [value] if isinstance(value, str) else []


def _described(cells: list[str]) -> str:
    distinct = list(dict.fromkeys(cells))
    listed = ", ".join(quoted(text[:40]) for text in distinct[:3])
    return f"{len(distinct):,} distinct in {many(len(cells), 'cell')}: {listed}" if cells else "always empty"
