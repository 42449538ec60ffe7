"""A table of weights for aggregates of price indices: its rows checked, its tree, its digest. Pure, without numpy."""

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from shared.errors import ItemIndexError

ROWS_MAX = 1_000
VERSIONS_MAX = 100
"""Of all tables of an organization together."""
TOTAL = "total"
"""The code of the root where a table has several rows without a parent."""
COLUMNS = ("code", "parent", "weight")
CODE_CHARACTERS_MAX = 400
_WEIGHT = re.compile(r"[0-9]{1,15}(\.[0-9]{1,10})?", re.ASCII)
_FAULTS_MAX = 50


class RowFault(NamedTuple):
    """A fault of a row: the member that is wrong, why, its value, and the line of a file that the row comes from."""

    member: str
    detail: str
    value: str | None = None
    line: int | None = None

    @property
    def sentence(self) -> str:
        """The detail with the line."""
        return self.detail if self.line is None else f"{self.detail} (line {self.line})"


class WrittenRow(NamedTuple):
    """A row as it was sent, counted from 0; an absent parent or weight is an empty text."""

    number: int
    line: int | None
    code: str
    parent: str
    weight: str

    @property
    def place(self) -> str:
        """Where a reader finds the row."""
        return f"line {self.line}" if self.line is not None else f"rows.{self.number}"

    def fault(self, column: str, detail: str, value: str | None = None) -> RowFault:
        """Return a fault of a column of the row."""
        return RowFault(f"rows.{self.number}.{column}", detail, value, self.line)


class WrongWeights(ItemIndexError):
    """Rows that are no table of weights: each fault, up to 50 of them."""

    def __init__(self, row_faults: Sequence[RowFault]) -> None:
        super().__init__("; ".join(f"{fault.member}: {fault.sentence}" for fault in row_faults))
        self.faults = tuple(row_faults[:_FAULTS_MAX])


class WeightRow(NamedTuple):
    """A node of the tree; `parent` is None of the root. A weight counts among the children of the same parent."""

    code: str
    parent: str | None
    weight: Decimal

    @property
    def written(self) -> str:
        """The weight in its one spelling: 100.50 is 100.5."""
        return f"{self.weight.normalize():f}"


@dataclass(frozen=True, slots=True)
class WeightTable:
    """A tree of weights in prices of one period, parents before their children. Leaves are categories or items."""

    price_reference: date
    rows: tuple[WeightRow, ...]

    @property
    def leaves(self) -> list[str]:
        """Return the codes that have no children, in order."""
        parents = {row.parent for row in self.rows}
        return sorted(row.code for row in self.rows if row.code not in parents)

    @property
    def text(self) -> str:
        """Return the rows in their one spelling, as they are stored."""
        return json.dumps([[row.code, row.parent, row.written] for row in self.rows], separators=(",", ":"))

    @property
    def sha256(self) -> str:
        """Return the digest of the price reference period and the rows, in hexadecimal."""
        return hashlib.sha256(f"{self.price_reference.isoformat()}\n{self.text}".encode()).hexdigest()

    @classmethod
    def stored(cls, price_reference: date, text: str) -> "WeightTable":
        """Return the table whose `text` was stored."""
        rows = tuple(WeightRow(code, parent, Decimal(weight)) for code, parent, weight in json.loads(text))
        return cls(price_reference, rows)


def rows_of_csv(text: str) -> list[dict[str, object]]:
    """Return the rows of a CSV as JSON has them, each with its line; the header has `code`, `weight`, perhaps `parent`.

    Raises WrongWeights.
    """
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[dict[str, object]] = []
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if sorted({"parent", *header}) != sorted(COLUMNS) or len(set(header)) < len(header):
            fault = f"must begin with the header {','.join(COLUMNS)}, of which parent is optional"
            raise WrongWeights([RowFault("body", fault, line=1)])
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                fault = f"has {len(cells)} cells in a row, and {len(header)} in the header"
                raise WrongWeights([RowFault("body", fault, line=reader.line_num)])
            rows.append(dict(zip(header, (cell.strip() for cell in cells), strict=True)) | {"line": reader.line_num})
    except csv.Error as error:
        raise WrongWeights([RowFault("body", f"is no CSV: {error}", line=reader.line_num)]) from None
    return rows


def table_of_weights(price_reference: date, written: Sequence[WrittenRow]) -> WeightTable:
    """Make a table of rows. What its leaves mean is for `check_leaves`.

    A row without a parent is below the row whose code is the longest beginning of its own, up to a dot. Rows that have
    none either are below a root, `total`, unless there is one alone. A row with children needs no weight: it has the
    sum of theirs. If it has one, they must not exceed it. Raises WrongWeights, which names each fault with its row.
    """
    if not 1 <= len(written) <= ROWS_MAX:
        raise WrongWeights([RowFault("rows", f"must be 1 to {ROWS_MAX:,}")])
    faults = [*_faults_of_rows(written)]
    by_code = {row.code: row for row in written}
    parents = {row.code: row.parent or _dotted_parent(row.code, by_code) for row in written}
    faults += [
        row.fault("parent", "is the code of no row", row.parent)
        for row in written
        if row.parent and row.parent not in by_code
    ]
    _refuse(faults)
    _refuse([*_cycles(by_code, parents)])
    tops = [code for code, parent in parents.items() if parent is None]
    if len(tops) > 1:
        if TOTAL in by_code:
            fault = f"must be the parent of all other rows: {tops[0] if tops[0] != TOTAL else tops[1]} has none"
            raise WrongWeights([by_code[TOTAL].fault("code", fault, TOTAL)])
        parents = {code: parent or TOTAL for code, parent in parents.items()} | {TOTAL: None}
    return WeightTable(price_reference, tuple(_with_weights(by_code, parents)))


def check_leaves(written: Iterable[WrittenRow], leaves: Iterable[str], meanings: Mapping[str, str]) -> None:
    """Refuse leaves that are neither categories nor items of the index, and those that are one item.

    `meanings`: of each known leaf its category, or the item that its IID leads to. Raises WrongWeights.
    """
    faults: list[RowFault] = []
    first: dict[str, WrittenRow] = {}
    listed = set(leaves)
    for row in written:
        if row.code not in listed:
            continue
        meaning = meanings.get(row.code)
        if meaning is None:
            missing = "is not a known category or item, and no row has it as its parent"
            faults.append(row.fault("code", missing, row.code))
        elif (other := first.setdefault(meaning, row)) is not row:
            faults.append(row.fault("code", f"is the same item as {other.code} ({other.place})", row.code))
    _refuse(faults)


def _refuse(faults: Sequence[RowFault]) -> None:
    if faults:
        raise WrongWeights(faults)


def _faults_of_rows(written: Sequence[WrittenRow]) -> Iterable[RowFault]:
    first: dict[str, WrittenRow] = {}
    for row in written:
        if not 1 <= len(row.code) <= CODE_CHARACTERS_MAX or not row.code.isprintable():
            yield row.fault("code", f"must have 1 to {CODE_CHARACTERS_MAX} printable characters", row.code)
        elif row.code in first:
            before = first[row.code]
            two = f"has two parents, {before.parent!r} ({before.place}) and {row.parent!r}"
            twice = f"is given twice, first in {before.place}"
            yield row.fault("code", twice if before.parent == row.parent else two, row.code)
        first.setdefault(row.code, row)
        if row.weight and (not _WEIGHT.fullmatch(row.weight) or not Decimal(row.weight)):
            yield row.fault("weight", "must be a decimal number above zero, such as 12.5", row.weight)


def _dotted_parent(code: str, known: Mapping[str, WrittenRow]) -> str | None:
    """Return the row that a code is below by its dots; `a.b` of `a.b.c` before `a`."""
    while "." in code:
        code = code.rpartition(".")[0]
        if code in known:
            return code
    return None


def _cycles(by_code: Mapping[str, WrittenRow], parents: Mapping[str, str | None]) -> Iterable[RowFault]:
    """Yield a fault for one row of each cycle of parents."""
    done: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        code: str | None = start
        while code is not None and code not in done and code not in path:
            path[code] = None
            code = parents[code]
        if code in path:
            yield by_code[code].fault("parent", "makes a cycle: the row is below itself", by_code[code].parent)
        done.update(path)


def _with_weights(by_code: Mapping[str, WrittenRow], parents: Mapping[str, str | None]) -> Iterable[WeightRow]:
    """Return the rows with their weights, each after its parent, in the order of codes below it."""
    children: dict[str | None, list[str]] = {}
    for code in sorted(parents):
        children.setdefault(parents[code], []).append(code)
    order = list(children[None])
    for code in order:  # it grows
        order += children.get(code, [])
    faults: list[RowFault] = []
    weights: dict[str, Decimal] = {}
    listed = Counter(parents.values())
    for code in reversed(order):
        row = by_code.get(code)  # none of a root that was added
        own = Decimal(row.weight) if row and row.weight else None
        below = sum((weights[child] for child in children.get(code, [])), Decimal())
        if row and own is None and not listed[code]:
            faults.append(row.fault("weight", f"is required, as {code} has no children"))
        elif row and own is not None and below > own:
            faults.append(
                row.fault("weight", f"is below the sum of its {listed[code]} children, {below:f}", row.weight)
            )
        weights[code] = own or below or Decimal(1)
    leaves = [code for code in order if not listed[code]]
    faults += _overlaps(by_code, leaves)
    _refuse(faults)
    return [WeightRow(code, parents[code], weights[code]) for code in order]


def _overlaps(by_code: Mapping[str, WrittenRow], leaves: Sequence[str]) -> Iterable[RowFault]:
    """Yield a fault for each leaf that is part of another one: its prices would count twice."""
    known = {code: by_code[code] for code in leaves}
    for code in leaves:
        above = _dotted_parent(code, known)
        if above is not None:
            fault = f"is part of the category {above} ({known[above].place}), which has its own weight elsewhere"
            yield known[code].fault("code", fault, code)
