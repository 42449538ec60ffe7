"""Attributes of an item, with its weight in kilograms."""

import re

from shared.toml_text import as_toml, quoted
from workers.ingest.clean import quantity
from workers.ingest.column_names import plain
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.cell_kinds import HALF, zeros
from workers.ingest.guess.writer import FieldWriter, columns_of, has_or_have, reading, share_of_cells

# KGM and the like are the codes of UN/ECE Recommendation 20: https://unece.org/trade/uncefact/cl-recommendations
_UNIT_OF_WEIGHT = re.compile(
    r"(?:^|\W)(?:(?P<kg>kgs?|кг|kgm|kilograms?)|(?P<g>g|г|grm|gramm?e?s?)|(?P<lb>lbs?|lbr|pounds?)|"
    r"(?P<oz>oz|onz|ounces?))(?:\W|$)"
)
# What a column beside the weight is called whose cells are its units.
_IS_UNIT_OF_WEIGHT = re.compile(r"(?:\w+ )?weight (?:unit|units|uom|unit of measure)")
# A pound is exactly so many kilograms, and an ounce a sixteenth of it: https://www.nist.gov/pml/special-publication-811
_KILOGRAMS = {"kg": "1", "g": "0.001", "lb": "0.45359237", "oz": "0.028349523125"}
# Plain numbers, by their decimal marks. Unlike prices, weights often have three decimals: "1.800" is no 1,800, while
# "1,800" may be either.
_WEIGHTS = {
    ".": re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII),
    ",": re.compile(r"[0-9]+(?:,(?![0-9]{3}$)[0-9]+)?", re.ASCII),
}


class AttributeWriter(FieldWriter):
    """Writes the attributes."""

    def _attributes(self, specs: dict[str, ColumnSpec]) -> None:
        lines_before = len(self.lines)
        self.table = "item.attributes"
        for name, given in [*specs.items()]:
            spec = self._without_zero_weights(given) if name.startswith("weight") else given
            if spec != given and not self._cells(spec):
                del specs[name]  # so that it is listed among the columns that are not used
            elif name == "weight":
                self._weight(spec)
            else:
                self._rival(name, spec)
                self._line(name, spec)
        if len(self.lines) > lines_before:
            self.lines[lines_before:lines_before] = ["", "[item.attributes]"]

    def _without_zero_weights(self, spec: ColumnSpec) -> ColumnSpec:
        """Return the field of a weight without the zeros that shops write where none is known."""
        nothing = zeros([text for column in columns_of(spec)[:1] for text in self.sampled.values(column)])
        return spec | {"null": [*spec.get("null", ()), *nothing]} if nothing else spec

    def _weight(self, spec: ColumnSpec) -> None:
        if not self._cells(spec):
            return
        units = [column for column in self.sampled.columns if _IS_UNIT_OF_WEIGHT.fullmatch(plain(column))]
        units = [column for column in units if plain(column).startswith(plain(spec["column"]))] or units
        null: ColumnSpec = {"null": spec["null"]} if "null" in spec else {}
        pairs: list[ColumnSpec] = [{"columns": [spec["column"], column]} | null for column in units]
        for whole in (spec, *pairs):
            texts = self._cells(whole)
            with_unit = sum(quantity(text, "kg") is not None for text in texts)
            if with_unit >= HALF * len(texts):
                evidence = f"{share_of_cells(with_unit, len(texts))} {has_or_have(with_unit)} a weight"
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
                in_words = f"^(.+) {re.escape(words[0])}$"
                pair: ColumnSpec = {"columns": [spec["column"], column], "match": in_words} | null
                says = f"{quoted(column)} says {words[0]}"
                self._line("weight_kg", pair | _in_kilograms(unit.lastgroup, decimal), f"{self._given(spec)}; {says}")
                return
        reason = "a cell is no plain number" if named else "neither its name nor its cells say whether kg or g is meant"
        example = next((text for text in cells if re.search("[.,]" if decimal else "[^0-9]", text)), cells[0])
        decimal = decimal or ("," if any("," in text for text in cells) else ".")
        readings = ((unit, as_toml(spec | _in_kilograms(unit, decimal))) for unit in _KILOGRAMS)
        self._doubt(
            "weight",
            f'{reason}, as in "{example}": it is shown as it is written, and no footprint is computed with it. If all '
            "cells have one unit, write",
            tuple(reading(f"weight_kg = {field}", f"the unit is {unit}") for unit, field in readings),
        )
        self._line("weight", spec)


def _in_kilograms(unit: str, decimal: str) -> ColumnSpec:
    """Return the keys with which a field of numbers in a unit of weight gives kilograms."""
    multiplied: ColumnSpec = {"multiply": _KILOGRAMS[unit]}
    return multiplied | {"decimal": decimal} if decimal != "." else multiplied
