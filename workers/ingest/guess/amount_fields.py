"""The field that reads the amounts of cells, of those habits of thousands and decimals that fit most of them. Pure."""

from typing import NamedTuple, cast

from shared.money import minor_digits
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.amount_readings import HABITS, differ, free_amounts, read_numbers

Choices = tuple[str, tuple[tuple[str | None, ColumnSpec], ...]]
"""An amount that may be read in several ways, and each reading with the field that gives it."""


class AmountField(NamedTuple):
    """The field of an amount, the cells that it cannot read with their places, and its readings if it has several."""

    spec: ColumnSpec
    unread: list[tuple[int, str]]
    choices: Choices | None = None


def amount_field(spec: ColumnSpec, cells: list[tuple[int, str]], marks: list[str], currency: str | None) -> AmountField:
    """Return how the amounts of a field are read: its cells with their places, the marks of currencies beside them.

    `currency`: the one of all amounts, if there is one.
    """
    if {"thousands", "decimal", "free_form", "strip"} & spec.keys() or not cells:
        return AmountField(spec, [])
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
        keys = ("column", "first_of", "null", "on_error", "match")
        kept = {name: value for name, value in spec.items() if name in keys}
        free = cast(ColumnSpec, kept | {"free_form": True})
        read = free_amounts(free, [text for _, text in cells])
        if sum(value is not None for value in read) > best:
            return AmountField(free, [cell for cell, value in zip(cells, read, strict=True) if value is None])
    for other, count in zip(readings, counts, strict=True):
        differing = [n for n, (a, b) in enumerate(zip(values, other[1], strict=True)) if a and b and differ(a, b)]
        if count == best and differing:
            text = cells[differing[0]][1]
            readings_of_it = ((values[differing[0]], made), (other[1][differing[0]], other[0]))
            return AmountField(made, [], (text, readings_of_it))
    return AmountField(made, [cell for cell, value in zip(cells, values, strict=True) if value is None])
