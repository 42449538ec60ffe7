"""A first mapping from a file: the likely meaning of its columns, as TOML with its evidence and every doubt.

A line is a guess only where the cells admit one reading. Where they admit two, the mapping has "?" and a load refuses
it until a person has chosen: the readings stand in the lines above, which begin with `# CHECK`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, cast

from shared.gtin import is_shortened
from shared.money import CODES, MARKS, minor_digits
from shared.printable import many
from workers.ingest.calendar_days import bounds, parsed, shown
from workers.ingest.clean import quantity
from workers.ingest.column_names import (
    WHOLE,
    has_word,
    is_exactly_price,
    name_score,
    plain,
    role_names,
    role_of,
    word_list,
)
from workers.ingest.column_roles import (
    COMMON,
    EITHER_ORDER,
    HABITS,
    HALF,
    MOSTLY,
    bare_digits,
    by_names,
    commonest,
    counted_once,
    currencies_named,
    day_formats,
    differ,
    fill_down_of,
    fits_gtin,
    free_amounts,
    mark_of,
    may_be,
    meant_by,
    meant_together,
    price_spec,
    read_numbers,
    replaced,
    share_of,
)
from workers.ingest.column_specs import ColumnSpec, Open
from workers.ingest.forms import UNPACKED_BYTES_MAX
from workers.ingest.sample import Sample, sample
from workers.ingest.shapes import Shape, read_by, recognized

_PATHS = (" > ", " › ", ">", " | ", "|", " » ", "::")
# A slash may also stand within the name of one level.
_SLASHES = (" / ", "/")
_TIMES = ("%b %Y", "%B %Y", "%b-%Y", "%b %y", "%b-%y", "%Y-%m", "%m/%Y", "%m.%Y", "%Y-%m-%d", "%d.%m.%Y", "%G-W%V")
# KGM and the like are the codes of UN/ECE Recommendation 20: https://unece.org/trade/uncefact/cl-recommendations
_UNIT_OF_WEIGHT = re.compile(
    r"(?:^|\W)(?:(?P<kg>kgs?|кг|kgm|kilograms?)|(?P<g>g|г|grm|gramm?e?s?)|(?P<lb>lbs?|lbr|pounds?)|"
    r"(?P<oz>oz|onz|ounces?))(?:\W|$)"
)
# What a column beside the weight is called whose cells are its units.
_IS_UNIT_OF_WEIGHT = re.compile(r"(?:\w+ )?weight (?:unit|units|uom|unit of measure)")
# A pound is exactly so many kilograms, and an ounce a sixteenth of it: https://www.nist.gov/pml/special-publication-811
_KILOGRAMS = {"kg": "1", "g": "0.001", "lb": "0.45359237", "oz": "0.028349523125"}
# Shops seldom have nothing but whole prices of a hundred and more in these currencies; marketplaces write cents so.
_RARELY_WHOLE = ("EUR", "USD", "GBP")
_HIGH_AND_WHOLE = re.compile(r"[1-9][0-9]{2,}", re.ASCII)
_WHOLE_MIN = 5
_SENTENCE_MAX, _SENTENCE_END = 300, 140
Choices = tuple[str, tuple[tuple[str | None, ColumnSpec], ...]]
"""An amount that may be read in several ways, and each reading with the field that gives it."""
# Plain numbers, by their decimal marks. Unlike prices, weights often have three decimals: "1.800" is no 1,800, while
# "1,800" may be either.
_WEIGHTS = {
    ".": re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII),
    ",": re.compile(r"[0-9]+(?:,(?![0-9]{3}$)[0-9]+)?", re.ASCII),
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """What a person should look at: of which field, why, and the lines of which one may take its place.

    A choice ends with a comment: what it makes of an example. `edge.dashboard.doubts` reads them from the text.
    """

    of: str
    sentence: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guess:
    """A mapping as TOML, the shape that was recognized, and what a person should look at."""

    text: str
    shape: str | None
    doubts: tuple[Doubt, ...]


def guess(path: Path, *, member: str = "", sheet: str = "", unpacked_bytes_max: int = UNPACKED_BYTES_MAX) -> Guess:
    """Return a mapping for a file. Raises LoadRefused where the file cannot be read or has no items."""
    sampled = sample(path, member=member, sheet=sheet, unpacked_bytes_max=unpacked_bytes_max)
    shape = recognized(sampled)
    if shape is None:
        fields = by_names(sampled)
        down = fill_down_of(sampled, fields["item"])
        if down is None:
            return _Writer(path, sampled, fields, None).guess()
        name, within = _quoted(down["columns"][0]), _quoted(down["within"])
        same = f", as long as both have the same {within}" if within != name else ""
        said = f"name: a row without {name} gets that of the row above{same}"
        form, doubts = sampled.form | {"fill_down": down}, (*sampled.doubts, said)
        sampled = replace(read_by(sampled, form), form=form, doubts=doubts)
        return _Writer(path, sampled, by_names(sampled), None).guess()
    return _Writer(path, shape.sampled, shape.fields, shape).guess()


@dataclass
class _Writer:
    """Writes the mapping of a file, line by line."""

    path: Path
    sampled: Sample
    fields: dict[str, Any]
    shape: Shape | None
    lines: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def guess(self) -> Guess:
        self._top()
        item = self.fields["item"]
        self.lines += ["", "[item]"]
        self._id(item["id"])
        self._name(item["name"])
        for name, spec in item.items():
            if name == "category":
                self._category(spec if isinstance(spec, list) else [spec])
            elif name not in ("id", "name", "identifiers", "attributes"):
                self._line(name, spec)
        self._identifiers(item.get("identifiers", {}))
        self._attributes(item.get("attributes", {}))
        if self.fields.get("observation", {}).get("price"):
            self._observation(dict(self.fields["observation"]))
        else:
            self._doubt("observation", f"no column seems to be a price: the mapping brings items alone{self._wide()}")
        self._unused()
        return Guess("\n".join(self.lines) + "\n", self.shape.title if self.shape else None, tuple(self.doubts))

    def _top(self) -> None:
        source = re.sub(r"[^a-z0-9]+", "_", self.path.name.split(".")[0].lower()).strip("_") or "source"
        source = source if source[0].isalpha() else f"s_{source}"
        rows = len(self.sampled.rows)
        sampled = f"the first {rows:,} rows" if rows > 1 else "the first row"
        self.lines.append(f"# A first mapping, guessed from {sampled} of the file.")
        self.lines.append(
            "# Lines that begin with CHECK are for you to decide; then try the file with "
            "`itemindex ingest --mapping MAPPING --dry-run`."
        )
        if self.shape:
            self.lines += [
                f"# Recognized: {self.shape.title}, because the file has {_shown(self.shape.because)}.",
                f"# {self.shape.about}",
            ]
        self.lines += [
            f"source = {_toml(source[:60])}  # with an item's id it makes the IID: keep it for ever",
            f"title = {_toml(self.path.name)}  # as answers show it",
        ]
        self._doubt("license", "no file says under which terms its data is: write them here")
        self.lines.append('license = "unknown"')
        for text in self.sampled.doubts:
            of, _, sentence = text.partition(": ")
            self._doubt(of, sentence)
        for of, sentence in self.shape.doubts if self.shape else ():
            self._doubt(of, sentence)
        form = self.sampled.form | (self.shape.form if self.shape else {})
        self.lines += [f"{name} = {_toml(value)}" for name, value in form.items()]

    def _doubt(self, of: str, sentence: str, choices: tuple[str, ...] = ()) -> None:
        sentence = _bounded(sentence)
        self.doubts.append(Doubt(of, sentence, choices))
        self.lines.append(f"# CHECK {of}: {_shown(sentence)}")
        self.lines += [f"# CHECK   {_shown(choice)}" for choice in choices]

    def _ask(self, of: str, sentence: str, choices: tuple[str, ...] = ()) -> Open:
        """Note a doubt, and leave the field open."""
        self._doubt(of, sentence, choices)
        self.lines.append(f'{of} = "?"')
        return "?"

    def _line(self, name: str, spec: ColumnSpec | list[ColumnSpec] | Open, evidence: str = "") -> None:
        if spec == "?":
            self.lines.append(f'{name} = "?"')
            return
        comment = evidence or self._given(spec)
        spec = [*map(self._as_written, spec)] if isinstance(spec, list) else self._as_written(spec)
        self.lines.append(f"{name} = {_toml(_short(spec))}" + (f"  # {_shown(comment)}" if comment else ""))

    def _as_written(self, spec: ColumnSpec) -> ColumnSpec:
        """Return a field by which a load reads parts that not every row has, and codes that are formulas."""
        if "records" in self.sampled.form:
            spec = _sparse(spec)
        if not self.sampled.formulas.isdisjoint(_columns(spec)):
            spec = spec | {"replace": {'="': "", '"': ""} | spec.get("replace", {})}
        return spec

    def _given(self, spec: ColumnSpec | list[ColumnSpec]) -> str:
        if not _columns(spec):
            return ""
        return _share(len(self._cells(spec)), len(self.sampled.rows))

    def _cells(self, spec: ColumnSpec | list[ColumnSpec] | Open) -> list[str]:
        """Return the texts of a field, of rows that have one."""
        return [text for _, text in self._numbered(spec)]

    def _numbered(self, spec: ColumnSpec | list[ColumnSpec] | Open) -> list[tuple[int, str]]:
        """Return the texts of a field with their places; of a field with `match` what that finds."""
        found = []
        pattern = re.compile(spec["match"]) if isinstance(spec, dict) and "match" in spec else None
        nulls = spec.get("null", ()) if isinstance(spec, dict) else ()
        for place, row in enumerate(self.sampled.rows):
            texts = [row[column] for column in _columns(spec) if row.get(column, "") not in ("", *nulls)]
            if texts:
                whole = isinstance(spec, dict) and "columns" in spec
                text = " ".join(texts) if whole else texts[0]
                if pattern:
                    part = pattern.search(text)
                    text = part[1] if part else ""
                if text:
                    found.append((place, text))
        return found

    def _examples(self, places: list[tuple[int, str]]) -> str:
        listed = ", ".join(f'line {self.sampled.lines[place]} "{text[:40]}"' for place, text in places[:3])
        return listed + (f" and {len(places) - 3:,} more" if len(places) > 3 else "")

    def _id(self, spec: ColumnSpec | Open) -> None:
        item = self.fields["item"]
        if spec == "?":
            self._doubt(
                "id", "no column seems to be the source's own id of the item: name one, or several that make one"
            )
        cells, columns = self._cells(spec), _columns(spec)
        for column in self.sampled.columns:
            shortened = [cell for cell in self._numbered({"column": column}) if is_shortened(cell[1])]
            if shortened and (role_of(column) in ("id", "gtin", "isbn") or column in columns):
                self._doubt(
                    "id",
                    f"a spreadsheet has cut numbers of {_quoted(column)} ({self._examples(shortened)}): their digits "
                    "are lost, and no id is taken from this column. Export it again as text",
                )
        if columns and columns == _columns(item["name"]):
            self._doubt(
                "id", "no column seems to be an id: the name is taken for it, and another spelling is another item"
            )
        self._missing("id", spec)
        self._replaced(spec)
        names: dict[str, str] = {}
        named = dict(self._numbered(item["name"]))
        for place, text in self._numbered(spec):
            if place in named and names.setdefault(text, named[place]) != named[place]:
                self._doubt(
                    "id",
                    f'"{text}" is the id of "{names[text]}" and of "{named[place]}": if these are two items, a second '
                    'column is a part of the id, as in id = ["shop", "sku"]',
                )
                break
        distinct = f"{len(set(cells)):,} distinct in {many(len(self.sampled.rows), 'row')}"
        self._line("id", spec, distinct if cells else "")

    def _replaced(self, spec: ColumnSpec | Open) -> None:
        """Say that members of a list, such as variants, or rows would replace one another as prices of one item."""
        observation = self.fields.get("observation", {})
        if not _columns(spec) or not observation.get("price"):
            return
        apart = [column for key in ("day", "channel", "currency") for column in _columns(observation.get(key, []))]
        key = [*_columns(spec), *apart]
        if "each" not in self.sampled.form:
            self._replaced_rows(key, observation["price"])
            return
        row = replaced(self.sampled, key)
        if row is not None:
            each, shared = _quoted(self.sampled.form["each"]), _quoted(row.get(_columns(spec)[0], ""))
            self._doubt(
                "id",
                f"several members of {each} have the id {shared} on the same day: the last price replaces the others. "
                f"If each is an item of its own, its id is a column of {each}",
            )

    def _replaced_rows(self, key: list[str], price: ColumnSpec) -> None:
        prices: dict[tuple[str | None, ...], str] = {}
        for place, text in self._numbered(price):
            row = self.sampled.rows[place]
            if key[0] in row and prices.setdefault(tuple(map(row.get, key)), text) != text:
                self._doubt(
                    "id",
                    f"several rows have the id {_quoted(row[key[0]])} on the same day at different prices: the last "
                    'price replaces the others, unless identity is "event" or a column tells them apart',
                )
                return

    def _name(self, spec: ColumnSpec | Open) -> None:
        item = self.fields["item"]
        twice = next((column for column in self.sampled.twice if role_of(column) == "name"), None)
        if spec == "?" or twice:
            several = f"the file has several columns {_quoted(twice)}" if twice else ""
            joins = "gtin" in item.get("identifiers", {}) and self.fields.get("observation")
            instead = '. If the index has the items already, write `id` and join_by = "gtin" alone' if joins else ""
            reason = several or "no column seems to be the item's name"
            self._doubt("name", f"{reason}: name the column that is{instead}")
            spec = "?"
        self._missing("name", spec)
        self._line("name", spec)

    def _missing(self, name: str, spec: ColumnSpec | Open, beside: tuple[ColumnSpec | Open, ...] = ()) -> None:
        """Say which rows have no value of a field that every row needs, or every row with these other fields."""
        rows = len(self.sampled.rows)
        needed = set(range(rows)).intersection(*map(self._places, beside))
        absent = sorted(needed.difference(self._places(spec)))
        if absent:
            lines = ", ".join(str(self.sampled.lines[place]) for place in absent[:3])
            is_total = absent == [rows - 1] and rows > 1 and not beside
            without = f"{_share(len(absent), rows, 'row')} {_has(len(absent))} none"
            total = " (the last one seems to be a total)" if is_total else ""
            self._doubt(name, f"{without} and {_is(len(absent))} rejected: line {lines}{total}")

    def _places(self, spec: ColumnSpec | Open) -> Iterable[int]:
        """Return the rows that have a value of a field."""
        return {place for place, _ in self._numbered(spec)} if _columns(spec) else range(len(self.sampled.rows))

    def _category(self, levels: list[ColumnSpec]) -> None:
        made = list(levels)
        if len(levels) == 1 and "split" not in levels[0]:
            cells = self._cells(levels[0])
            mark = next((mark for mark in (*_PATHS, *_SLASHES) if _are_in(mark, cells) >= HALF), None)
            if mark in _PATHS:
                made = [levels[0] | {"split": mark}]
            elif mark:
                whole = next(text for text in cells if mark in text)
                path = _reading(f"category = {_toml(levels[0] | {'split': mark})}", whole.replace(mark, " > "))
                self._doubt("category", f'is "{whole}" a path of several levels? If so, write', (path,))
        widest = f"{self._given(made[0])}, from the widest" if len(made) > 1 else self._given(made[0])
        self._line("category", made[0] if len(made) == 1 else made, widest)

    def _identifiers(self, specs: dict[str, ColumnSpec]) -> None:
        if specs:
            self.lines += ["", "[item.identifiers]"]
        for name, spec in specs.items():
            if name == "gtin" and "match" not in spec and self._cells(spec):
                self._gtin(spec)
            else:
                self._line(name, spec | {"on_error": "field"} if name == "url" else spec)

    def _gtin(self, spec: ColumnSpec) -> None:
        """Write the field of a GTIN, with the zeros that a program took for none of a number's."""
        numbered = self._numbered(spec)
        texts = [text for _, text in numbered]
        lengths = {len(bare_digits(text)) for text in texts if fits_gtin(text)}
        floats = any(re.fullmatch(r"[0-9]+\.0+", text, re.ASCII) for text in texts)
        keys: ColumnSpec = {"replace": {"'": ""}} if any(text.startswith("'") for text in texts) else {}
        keys |= {"pad": 14} if lengths - {8, 12, 13, 14} or floats else {}
        wrong = [(place, text) for place, text in numbered if not fits_gtin(text) and not is_shortened(text)]
        if wrong:
            self._doubt(
                "gtin", f"the check digit of {len(wrong):,} of {len(texts):,} does not fit: {self._examples(wrong)}"
            )
        fit = sum(map(fits_gtin, texts))
        self._line("gtin", spec | keys, f"the check digits of {_share(fit, len(texts))} fit")

    def _attributes(self, specs: dict[str, ColumnSpec]) -> None:
        lines_before = len(self.lines)
        for name, spec in specs.items():
            if name == "weight":
                self._weight(spec)
            else:
                self._line(name, spec)
        if len(self.lines) > lines_before:
            self.lines[lines_before:lines_before] = ["", "[item.attributes]"]

    def _weight(self, spec: ColumnSpec) -> None:
        units = [column for column in self.sampled.columns if _IS_UNIT_OF_WEIGHT.fullmatch(plain(column))]
        units = [column for column in units if plain(column).startswith(plain(spec["column"]))] or units
        pairs: list[ColumnSpec] = [{"columns": [spec["column"], column]} for column in units]
        for whole in (spec, *pairs):
            texts = self._cells(whole)
            with_unit = sum(quantity(text, "kg") is not None for text in texts)
            if with_unit >= HALF * len(texts):
                evidence = f"{_share(with_unit, len(texts))} {_has(with_unit)} a weight at the end"
                self._line("weight_kg", whole | {"unit": "kg"}, evidence)
                return
        cells = self._cells(spec)
        named = _UNIT_OF_WEIGHT.search(plain(spec["column"]))
        decimal = next((mark for mark, numbers in _WEIGHTS.items() if all(map(numbers.fullmatch, cells))), "")
        if named and named.lastgroup and decimal:
            says = f"the column's name says {named[named.lastgroup]}"
            self._line("weight_kg", spec | _in_kilograms(named.lastgroup, decimal), f"{self._given(spec)}; {says}")
            return
        for column in units if decimal else []:
            words = list(set(self.sampled.values(column)))
            unit = _UNIT_OF_WEIGHT.fullmatch(words[0].casefold()) if len(words) == 1 else None
            if unit and unit.lastgroup:  # a later row with another unit has no weight
                pair: ColumnSpec = {"columns": [spec["column"], column], "match": f"^(.+) {re.escape(words[0])}$"}
                says = f"{_quoted(column)} says {words[0]}"
                self._line("weight_kg", pair | _in_kilograms(unit.lastgroup, decimal), f"{self._given(spec)}; {says}")
                return
        reason = "a cell is no plain number" if named else "neither its name nor its cells say whether kg or g is meant"
        example = next((text for text in cells if re.search("[.,]" if decimal else "[^0-9]", text)), cells[0])
        decimal = decimal or ("," if any("," in text for text in cells) else ".")
        readings = ((unit, _toml(spec | _in_kilograms(unit, decimal))) for unit in _KILOGRAMS)
        self._doubt(
            "weight",
            f'{reason}, as in "{example}": it is shown as it is written, and no footprint is computed with it. If all '
            "cells have one unit, write",
            tuple(_reading(f"weight_kg = {field}", f"the unit is {unit}") for unit, field in readings),
        )
        self._line("weight", spec)

    def _observation(self, specs: dict[str, ColumnSpec]) -> None:
        self.lines += ["", "[observation]"]
        price, listed = self._without_zeros(specs["price"], specs.get("list_price"))
        for name in ("day", "channel", "currency"):
            self._missing(name, specs.get(name, "?"), (price, self.fields["item"]["name"]))
        self._day(specs.get("day"))
        if "channel" in specs:
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
                f"{_quoted(_columns(units)[0])} is not used: it may be the stock. If it is the number of units that "
                "were sold at the price, add",
                (_reading(f"units = {_toml(_short(units))}", f"{self._cells(units)[0]} units at that price"),),
            )

    def _without_zeros(self, price: ColumnSpec, listed: ColumnSpec | None) -> tuple[ColumnSpec, ColumnSpec | None]:
        """Return both fields so that a sale price of zero is none: shops export it where nothing is reduced."""
        if len(price.get("first_of", ())) < 2:
            return price, listed
        zeros = _zeros(self.sampled.values(price["first_of"][0]))
        if not zeros:
            return price, listed
        none: ColumnSpec = {"null": zeros}
        return price | none, listed | none if listed is not None and "beside" in listed else listed

    def _day(self, spec: ColumnSpec | None) -> None:
        if spec is None:
            dated = re.search(r"(?<!\d)(?:19|20)\d{2}-?[01]\d-?[0-3]\d(?!\d)", self.path.name)
            if dated:
                form = "%Y-%m-%d" if "-" in dated[0] else "%Y%m%d"
                pattern = re.sub(r"\d{2,4}", lambda digits: f"[0-9]{{{len(digits[0])}}}", dated[0])
                by_name = f'{{ file_name = "({pattern})", format = "{form}" }}'
                self._ask(
                    "day",
                    f'no column is a day, and the file\'s name has one ("{dated[0]}"): is it that of the prices?',
                    (
                        _reading(f"day = {by_name}", f"the prices are of {dated[0]}"),
                        _reading("day = { load_day = true }", "the prices are of the day on which they are loaded"),
                    ),
                )
            elif not self._parts_of_day():
                self._doubt("day", "the file states no day: its prices are of the day on which it is loaded (UTC)")
                self.lines.append("day = { load_day = true }")
            return
        if not _columns(spec) or "format" in spec:
            self._line("day", spec)
            return
        numbered = self._numbered(spec)
        texts = [text for _, text in numbered]
        fits = day_formats(texts, 0)
        if sum(counted_once(fits)) < HALF * len(texts):
            named = _quoted(_columns(spec)[0])
            self._ask("day", f"{named} seems to be the day, and no format fits: {self._examples(numbered)}")
            return
        for group in EITHER_ORDER:
            fitting = [form for form in group if form in fits]
            others = [form for form in group if form not in fits]
            unread = [text for text in texts if parsed(text, tuple(fits)) is None]
            doubtful = [text for text in texts if len({parsed(text, (form,)) for form in fitting}) > 1]
            doubtful += [text for text in unread if fitting and parsed(text, tuple(others)) is not None]
            if doubtful:
                self._doubt_of_order(spec, doubtful[0], *(fitting if len(fitting) > 1 else group))
                return
            for form in fitting[1:]:
                del fits[form]
        read = [(text, parsed(text, tuple(fits))) for text in texts]
        days = [day for _, day in read if day is not None]
        total, unread_cells = len(texts), [cell for cell, (_, day) in zip(numbered, read, strict=True) if day is None]
        if unread_cells:
            count, examples = len(unread_cells), self._examples(unread_cells)
            self._doubt("day", f"{count:,} of {total:,} {_is(count)} no day and {_is(count)} rejected: {examples}")
        first, last = bounds("", "")
        if all(day is not None and day > last for _, day in read):
            today = _reading("day = { load_day = true }", "the prices are of the day on which they are loaded")
            named = _quoted(_columns(spec)[0])
            self._ask("day", f"all days of {named} are in the future, which no day of a price may be", (today,))
            return
        for outside, where in (
            ([text for text, day in read if day is not None and day > last], "in the future"),
            ([text for text, day in read if day is not None and day < first], f"before {shown(first)}"),
        ):
            if outside:
                some = f"{_share(len(outside), total, 'day')} {_is(len(outside))} {where}"
                self._doubt("day", f'{some} and {_is(len(outside))} rejected, such as "{outside[0]}"')
        if not self.shape and name_score(_columns(spec)[0], role_names()["day"]) < WHOLE - 50:
            self._doubt("day", f"is {_quoted(_columns(spec)[0])} the day of the price?")
        span = f", {shown(min(days))} to {shown(max(days))}" if days else ""
        forms = list(fits)
        self._line(
            "day",
            spec if forms == ["%Y-%m-%d"] else spec | {"format": forms[0] if len(forms) == 1 else forms},
            f"{_share(len(days), total)} {_has(len(days))} a day{span}",
        )

    def _doubt_of_order(self, spec: ColumnSpec, text: str, *forms: str) -> None:
        read = {form: parsed(text, (form,)) for form in forms}
        said = " or ".join(str(shown(day)) for day in dict.fromkeys(read.values()) if day is not None)
        choices = (
            _reading(f"day = {_toml(spec | {'format': form})}", f'"{text}" is {_day_shown(read[form])}')
            for form in forms
        )
        self._ask("day", f'"{text}" may be {said}: write the order of day and month', tuple(choices))

    def _currency(self, price: ColumnSpec, given: ColumnSpec | None) -> tuple[list[str], list[str], str | None]:
        """Return the lines of the currency, the marks in prices that say the same, and the one currency of all prices.

        A currency that only some prices state is not that of all, and a sign of several is a question.
        """
        if isinstance(given, dict) and "constant" in given:
            return [f"currency = {_toml(given)}"], [], given["constant"]
        numbered = [(place, text) for place, text in self._numbered(price) if any(map(str.isdigit, text))]
        stated = Counter(mark_of(text) for _, text in numbered)
        for mark in [
            mark for mark, count in stated.items() if mark not in MARKS and count < (1 - MOSTLY) * len(numbered)
        ]:
            stated[""] += stated.pop(mark)  # a few odd cells, which cannot be read, say nothing of the others
        bare, total = stated.pop("", 0), len(numbered)
        before = len(self.lines)
        marks: list[str] = []
        fixed = None
        if given is not None:
            cells = self._cells(given)
            codes = set(cells)
            given = self._of_column(given, codes)
            fixed = next(iter(codes)) if len(codes) == 1 and codes <= CODES else None
            apart = self._disagreement(price, given, stated)
            if apart is not None:
                line, of_row, mark = apart
                seen = ", ".join(map(_quoted, stated))
                of_each, _ = self._of_each_price(price, stated)
                self._ask(
                    "currency",
                    f"the prices state {seen}, and {_quoted(_columns(given)[0])} says otherwise: which is right?",
                    (
                        _reading(f"currency = {_toml(_short(given))}", f"line {line} is in {of_row}"),
                        _reading(f"currency = {of_each}", f"line {line} is in {mark}"),
                    ),
                )
            else:
                self._line("currency", given)
            marks = list(stated)
        elif not stated or bare > total - bare:
            named = self._currency_of_name(price)
            if named and not stated:
                column, fixed = named
                self._line("currency", {"constant": fixed}, f"the name of the column {_quoted(column)} says so")
            else:
                seen = ", ".join(map(_quoted, stated))
                some = f"{total - bare:,} of {total:,} prices have {seen}, and the others nothing"
                sentence = some if stated else "neither a column nor the prices say it"
                examples = tuple(
                    _reading(f'currency = {{ constant = "{code}" }}', f"all prices are in {code}")
                    for code in COMMON[:3]
                )
                self._ask("currency", f"{sentence}: in which currency are the prices (any ISO 4217 code)?", examples)
        else:
            of_each, of_mark = self._of_each_price(price, stated)
            for mark in (mark for mark, code in of_mark.items() if code == "?"):
                example = next(text for _, text in numbered if mark_of(text) == mark)
                sentence = f'"{mark}", as in "{example}", {may_be(meant_by(mark))}: write its code in place of "?"'
                self._doubt("currency", sentence, _codes_of(mark, meant_by(mark)))
            self._pounds(stated)
            if bare:
                without = [(place, text) for place, text in numbered if not mark_of(text)]
                some = f"not stated by {bare:,} of {many(total, 'price')}, which {_is(bare)} rejected"
                self._doubt("currency", f"{some}: {self._examples(without)}")
            self.lines.append(f"currency = {of_each}  # stated by {total - bare:,} of {many(total, 'price')}")
            marks = list(stated)
            codes = set(of_mark.values())
            fixed = codes.pop() if len(codes) == 1 and "?" not in codes and not bare else None
        lines, self.lines = self.lines[before:], self.lines[:before]
        return lines, marks, fixed

    def _of_column(self, spec: ColumnSpec, codes: set[str]) -> ColumnSpec:
        """Return the field of a column of currencies, whose cells may be signs, or codes in small letters."""
        if codes <= CODES or not isinstance(spec, dict):
            return spec
        if {code.upper() for code in codes} <= CODES:
            return spec | {"case": "upper"}
        meant = {code: meant_by(code) or meant_by(code.upper()) for code in sorted(codes)}
        table = {code: next(iter(found)) if len(found) == 1 else "?" for code, found in meant.items()}
        for code in (code for code, one in table.items() if one == "?"):
            sentence = (
                f'"{code}" {may_be(meant[code])}: write its code in place of "?", or leave it out to reject its rows'
            )
            self._doubt("currency", sentence, _codes_of(code, meant[code]))
        self._pounds(table)
        return spec | {"crosswalk": table}

    def _pounds(self, marks: Iterable[str]) -> None:
        if "£" in marks:
            self._doubt("currency", '"£" is taken for GBP: Egypt, Lebanon and others write it too')

    def _disagreement(self, price: ColumnSpec, given: ColumnSpec, stated: Counter[str]) -> tuple[int, str, str] | None:
        """Return the first line whose price states another currency than its row: the line and both of them."""
        table = given.get("crosswalk", {})
        of_row = {place: table.get(text, text.upper()) for place, text in self._numbered(given)}
        for place, text in self._numbered(price):
            mark, code = mark_of(text), of_row.get(place)
            if mark in stated and code not in MARKS.get(mark, frozenset()):
                return self.sampled.lines[place], code or "no currency", mark
        return None

    def _currency_of_name(self, price: ColumnSpec) -> tuple[str, str] | None:
        """Return the column whose name states the currency, and that: one of a price, or one of eBay's files."""
        columns = [*_columns(price), *self.fields.get("rivals", {}).get("price", [])]
        columns += [column for column in self.sampled.columns if "Currency=" in column]
        found = {code: column for column in reversed(columns) for code in currencies_named(column)}
        return (*found.values(), *found) if len(found) == 1 else None

    def _of_each_price(self, price: ColumnSpec, stated: Counter[str]) -> tuple[str, dict[str, str]]:
        """Return a field that reads the currency out of each price, and the currency of each mark: "?" if open."""
        meant = meant_together(stated)
        signs = "".join(
            sorted({character for mark in stated for character in mark if not character.isalpha()} - set(" ."))
        )
        others = f"[^A-Za-z{re.escape(signs)}]*"
        either = "|".join(re.escape(mark) for mark in sorted(stated, key=len, reverse=True))
        table = {mark: next(iter(codes)) if len(codes) == 1 else "?" for mark, codes in meant.items()}
        spec = {name: value for name, value in price.items() if name in ("column", "first_of", "null")}
        spec["match"] = f"^{others}({either}){others}$"
        if any(mark != code for mark, code in table.items()):
            spec["crosswalk"] = table
        return _toml(spec), table

    def _price(self, spec: ColumnSpec, marks: list[str], currency: str | None) -> ColumnSpec | Open:
        hundredths = next((column for column in _columns(spec) if has_word(column, "hundredths")), None)
        if hundredths:
            return self._ask(
                "price",
                f"{_quoted(hundredths)} seems to count the hundredths of its currency: write the prices into the file "
                "with decimals, or name the column if it has whole amounts",
            )
        rivals = self.fields.get("rivals", {}).get("price", [])
        states_tax = any(has_word(column, "tax") for column in rivals)
        plainest = "column" in spec and is_exactly_price(spec["column"]) and not states_tax
        if rivals and "column" in spec and not plainest:
            listed = [spec["column"], *rivals]
            if any(self.sampled.values(column) != self.sampled.values(spec["column"]) for column in rivals):
                return self._ask(
                    "price",
                    f"{' and '.join(map(_quoted, listed))} may each be the price: choose one",
                    tuple(line for column in listed for line in self._prices_of(column, marks, currency)),
                )
        for column in self.sampled.columns:
            units = [text for text in self.sampled.values(column) if text != "1" and text.isdecimal()]
            if units and plain(column).replace(" ", "") in word_list("unit_of_price"):
                sentence = f'{_quoted(column)} seems to say for how many units a price is, such as "{units[0]}"'
                self._doubt("price", f"{sentence}: the price is loaded as it is written, and is not divided")
        cells = self._cells(spec)
        if currency in _RARELY_WHOLE and len(cells) >= _WHOLE_MIN and all(map(_HIGH_AND_WHOLE.fullmatch, cells)):
            self._doubt(
                "price",
                f"{_quoted(_columns(spec)[0])} has whole amounts alone, such as {_quoted(cells[0])}: if these count "
                "hundredths, write the prices into the file with decimals",
            )
        return self._amount_line("price", spec, marks, currency)

    def _prices_of(self, column: str, marks: list[str], currency: str | None) -> list[str]:
        """Return the lines by which a column is the price: one for each reading of its amounts."""
        made, _, choices = self._amount(price_spec(self.sampled, column), marks, currency)
        if choices:
            text, readings = choices
            return [_reading(f"price = {_toml(_short(field))}", f'"{text}" is {value}') for value, field in readings]
        first = next(iter(self.sampled.values(column)), "nothing")
        return [_reading(f"price = {_toml(_short(made))}", f'of the first item "{first}"')]

    def _parts_of_day(self) -> bool:
        """Leave the day open where a column has weeks or months, and another one the year."""
        named = {plain(column): column for column in self.sampled.columns if self.sampled.values(column)}
        year, week, month = (
            next((named[name] for name in word_list(kind) if name in named), None) for kind in ("year", "week", "month")
        )
        part, join, form = (week, "-W", "%G-W%V") if week else (month, "-", "%Y-%-m")
        if part is None:
            return False
        reading = _toml({"columns": [year or "?", part], "join": join, "format": form})
        self._ask(
            "day",
            f"{_quoted(part)} seems to be a part of the day of the prices. A day needs the year too"
            + (": choose one" if year else f", as in day = {reading}: add a column that has it"),
            (
                *([_reading(f"day = {reading}", "the last day of each")] if year else []),
                _reading("day = { load_day = true }", "the prices are of the day on which they are loaded"),
            ),
        )
        return True

    def _end_of_sale(self, price: ColumnSpec) -> None:
        """Say which column may end a sale price, which is taken wherever there is one."""
        if self.shape or not isinstance(price, dict) or len(price.get("first_of", ())) < 2:
            return
        for column in self.sampled.columns:
            if has_word(column, "end") and day_formats(self.sampled.values(column), MOSTLY):
                sale = _quoted(price["first_of"][0])
                self._doubt(
                    "price", f"{sale} is taken wherever there is one; {_quoted(column)} may say that it is over"
                )

    def _tax_of(self, price: ColumnSpec, listed: ColumnSpec) -> None:
        """Say that a price without tax and a recommended price, which is mostly with it, are no reduction."""
        net = next((column for column in _columns(price) if has_word(column, "without_tax")), None)
        if net is not None and not any(has_word(column, "without_tax") for column in _columns(listed)):
            recommended = " and ".join(map(_quoted, _columns(listed)))
            self._doubt(
                "list_price",
                f"{_quoted(net)} seems to be without tax. If {recommended} is with tax, leave out list_price, or all "
                "items would seem to be reduced",
            )

    def _list_price(self, spec: ColumnSpec, marks: list[str], price: ColumnSpec | Open) -> None:
        zeros = _zeros(self._cells(spec))
        if zeros:  # what programs write for none
            spec = spec | {"null": [*spec.get("null", ()), *zeros]}
        stated = {mark_of(text) for text in self._cells(spec)} - {""}
        if stated and (len(marks) > 1 or not stated <= set(marks)):  # one that states another currency is an error
            self._line("list_price", spec | {"free_form": True, "on_error": "field"})
        else:
            self._amount_line("list_price", spec | {"on_error": "field"}, marks, None, self._habit(price))

    def _habit(self, price: ColumnSpec | Open) -> tuple[str, str] | None:
        """Return how the prices are written, where they show it: the marks of thousands and of decimals."""
        if not isinstance(price, dict) or "free_form" in price:
            return None
        marked = any(re.search("[.,]", text) for text in self._cells(price))
        return (price.get("thousands", ""), price.get("decimal", ".")) if marked else None

    def _amount_line(
        self, name: str, spec: ColumnSpec, marks: list[str], currency: str | None, habit: tuple[str, str] | None = None
    ) -> ColumnSpec | Open:
        made, unread, choices = self._amount(spec, marks, currency)
        cells = self._numbered(spec)
        if choices and habit:
            same = [
                field for _, field in choices[1] if (field.get("thousands", ""), field.get("decimal", ".")) == habit
            ]
            made, choices = (same[0], None) if same else (made, choices)
        if choices:
            text, readings = choices
            lines = (_reading(f"{name} = {_toml(_short(field))}", f'"{text}" is {value}') for value, field in readings)
            said = " or ".join(value for value, _ in readings if value)
            return self._ask(name, f'"{text}" may be {said}: choose one', tuple(lines))
        if name == "price" and len(unread) > len(cells) / 2:
            most = f"{_quoted(_columns(spec)[0])} seems to be the price, and {_share(len(unread), len(cells))}"
            return self._ask(name, f"{most} cannot be read: {self._examples(unread)}")
        negative = [(place, text) for place, text in cells if re.match(r"\W*[-\u2212]\s*\W?[0-9]", text)]
        zero = [(place, text) for place, text in cells if _is_zero(text)]
        for some, what, end in (
            (unread, "cannot be read", "rejected"),
            (negative if name == "price" else [], f"{_is(len(negative))} negative", "rejected"),
            (zero, f"{_is(len(zero))} zero", "loaded as such"),
        ):
            if some:
                count = _share(len(some), len(cells))
                self._doubt(name, f"{count} {what} and {_is(len(some))} {end}: {self._examples(some)}")
        amounts = len(cells) - len(unread)
        self._line(name, made, f"{_share(amounts, len(cells))} {_has(amounts)} an amount")
        return made

    def _amount(
        self, spec: ColumnSpec, marks: list[str], currency: str | None
    ) -> tuple[ColumnSpec, list[tuple[int, str]], Choices | None]:
        """Return the field of an amount, the cells that it cannot read, and the readings where there are several."""
        cells = self._numbered(spec)
        if not isinstance(spec, dict) or {"thousands", "decimal", "free_form", "strip"} & spec.keys() or not cells:
            return spec, [], None
        taken_out = dict.fromkeys(sorted(marks, key=len, reverse=True), "")
        spaces = "".join(sorted({c for _, text in cells for c in text if c.isspace()} - {" "}))
        base = spec | ({"replace": taken_out} if taken_out else {})
        readings = []
        for thousands, decimal in HABITS:
            made = base | ({"thousands": thousands} if thousands else {}) | ({"decimal": ","} if decimal == "," else {})
            made |= {"strip": spaces} if spaces and thousands != " " else {}
            if spaces and thousands == " ":
                made["replace"] = {**taken_out, **dict.fromkeys(spaces, " ")}
            readings.append((made, read_numbers(made, [text for _, text in cells])))
        if currency and minor_digits(currency) == 0:  # such a price has no decimals
            readings = [
                (made, [None if value and "." in value else value for value in values]) for made, values in readings
            ]
        counts = [sum(value is not None for value in values) for _, values in readings]
        best = max(counts)
        made, values = readings[counts.index(best)]
        if best < len(cells) and (marks or 2 * best < len(cells)):
            kept = {name: value for name, value in spec.items() if name in ("column", "first_of", "null", "on_error")}
            free = cast(ColumnSpec, kept | {"free_form": True})
            read = free_amounts(free, [text for _, text in cells])
            if sum(value is not None for value in read) > best:
                return free, [cell for cell, value in zip(cells, read, strict=True) if value is None], None
        for other, count in zip(readings, counts, strict=True):
            differing = [n for n, (a, b) in enumerate(zip(values, other[1], strict=True)) if a and b and differ(a, b)]
            if count == best and differing:
                text = cells[differing[0]][1]
                return made, [], (text, ((values[differing[0]], made), (other[1][differing[0]], other[0])))
        return made, [cell for cell, value in zip(cells, values, strict=True) if value is None], None

    def _wide(self) -> str:
        """Say that prices stand in a column for each month or day, which are no rows of a mapping."""
        dated = [column for column in self.sampled.columns if _day_of_name(column) and self.sampled.values(column)]
        if len(dated) < 2:
            return ""
        listed = ", ".join(map(_quoted, dated[:2]))
        day, price = _toml({"constant": str(_day_of_name(dated[0]))}), _quoted(dated[0])
        return (
            f". {listed} seem to have prices of a month or day each: make rows of them "
            f"(`unpivot`, `melt`), or write an [[observation]] for each, with day = {day} and price = {price}"
        )

    def _unused(self) -> None:
        used = set(_columns_within(self.fields)) | set(_columns_within(self.shape.form if self.shape else {}))
        rest = [column for column in self.sampled.columns if column not in used]
        if rest:
            self.lines += ["", "# Columns that are not used, and what they hold:"]
            self.lines += [f"# {_quoted(column)}: {_described(self.sampled.values(column))}" for column in rest]


def _day_of_name(column: str) -> date | None:
    """Return the last day of the time that the name of a column states, such as `Jan 2026`; None where it has none."""
    day = parsed(column.strip(), _TIMES)
    return None if day is None else shown(day)


def _is_zero(text: str) -> bool:
    return re.fullmatch(r"[^1-9]*0[^1-9]*", text) is not None


def _zeros(cells: list[str]) -> list[str]:
    return sorted(set(filter(_is_zero, cells)))


def _share(count: int, total: int, noun: str = "cell") -> str:
    return f"{count:,} of {many(total, noun)}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def _in_kilograms(unit: str, decimal: str) -> ColumnSpec:
    """Return the keys with which a field of numbers in a unit of weight gives kilograms."""
    multiplied: ColumnSpec = {"multiply": _KILOGRAMS[unit]}
    return multiplied | {"decimal": decimal} if decimal != "." else multiplied


def _reading(line: str, example: str) -> str:
    """Return a line that may take the place of an open one, with what it makes of an example."""
    return f"{line}  # {_shown(example)}"


def _codes_of(mark: str, currencies: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of a crosswalk that a mark may have, the commonest first."""
    return tuple(_reading(f"{_toml({mark: code})[2:-2]}", f"{mark} is {code}") for code in commonest(currencies)[:4])


def _day_shown(day: int | None) -> str:
    return "no day" if day is None else str(shown(day))


def _are_in(mark: str, cells: list[str]) -> float:
    return share_of(cells, lambda text: mark in text)


def _columns(spec: ColumnSpec | list[ColumnSpec] | Open) -> list[str]:
    """Return the columns that a field reads."""
    if isinstance(spec, str):
        return [] if spec == "?" else [spec]
    if isinstance(spec, list):
        return [column for one in spec for column in _columns(one)]
    return [*([spec["column"]] if "column" in spec else []), *spec.get("columns", ()), *spec.get("first_of", ())]


def _columns_within(value: object) -> list[str]:
    """Return all columns that the fields of a mapping read."""
    if isinstance(value, dict):
        own = _columns(cast(ColumnSpec, value)) + ([value["within"]] if "within" in value else [])
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
    listed = ", ".join(_quoted(text[:40]) for text in distinct[:3])
    return f"{len(distinct):,} distinct in {many(len(cells), 'cell')}: {listed}" if cells else "always empty"


def _sparse(spec: ColumnSpec) -> ColumnSpec:
    """Return a field that a document may lack where it reads a part by its name, as not every article has one."""
    return spec | {"sparse": True} if any(column.endswith("]") for column in _columns(spec)) else spec


def _short(spec: ColumnSpec | list[ColumnSpec]) -> object:
    """Return a field as a mapping writes it: a column alone as its name."""
    if isinstance(spec, list):
        return [_short(one) for one in spec]
    return spec["column"] if isinstance(spec, dict) and list(spec) == ["column"] else spec


def _toml(value: object) -> str:
    """Return a value as TOML writes it, without any character that a terminal would obey."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and value == "\t":
        return '"\\t"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        pairs = (
            f"{name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else _quoted(name)} = {_toml(one)}"
            for name, one in value.items()
        )
        return f"{{ {', '.join(pairs)} }}"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return '"' + "".join(_written(character) for character in text) + '"'


def _written(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def _bounded(sentence: str) -> str:
    """Return a sentence that can be read at once: of a long one the beginning, and the end, which says what to do."""
    if len(sentence) <= _SENTENCE_MAX:
        return sentence
    end = sentence[-_SENTENCE_END:].partition(" ")[2]
    return f"{sentence[: _SENTENCE_MAX - len(end) - len(' … ')].rpartition(' ')[0]} … {end}"


def _shown(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
