"""The name of an item."""

from itertools import pairwise

from shared.toml_text import as_toml, quoted
from workers.ingest.column_names import role_of
from workers.ingest.column_specs import ColumnSpec, Open
from workers.ingest.guess.cell_kinds import MOSTLY, is_text, share_of
from workers.ingest.guess.column_roles import is_no_name
from workers.ingest.guess.writer import FieldWriter, columns_of, reading, short_form

# So many items of a name, on average, make it rather that of a series; of fewer items a mean says little.
_ITEMS_OF_A_SERIES = 2
_ITEMS_MIN = 12
_CHARACTERS_MAX = 150
# What tells items of one name apart is no part of their names in such columns.
_NO_PART = frozenset(("id", "gtin", "isbn", "mpn", "url", "no_link", "category", "day", "brand"))


class NameWriter(FieldWriter):
    """Writes the name."""

    def _name(self, spec: ColumnSpec | Open) -> None:
        item = self.fields["item"]
        twice = next((column for column in self.sampled.twice if role_of(column) == "name"), None)
        if spec == "?" or twice:
            several = f"the file has several columns {quoted(twice)}" if twice else ""
            joins = "gtin" in item.get("identifiers", {}) and self.fields.get("observation")
            instead = '. If the index has the items already, write `id` and join_by = "gtin" alone' if joins else ""
            reason = several or "no column seems to be the item's name"
            self._doubt("name", f"{reason}: name the column that is{instead}")
            spec = "?"
        spec = self._without_doubled(spec)
        self._missing("name", spec)
        if not self.shape and spec != "?" and "column" in spec:
            self._doubt_of_name(spec)
        self._line("name", spec)

    def _without_doubled(self, spec: ColumnSpec | Open) -> ColumnSpec | Open:
        """Return a name of several columns without one with which the next one mostly begins, as brands are."""
        if spec == "?" or len(spec.get("columns", ())) < len(("brand", "model")):
            return spec
        columns = spec["columns"]
        kept = [one for one, following in pairwise(columns) if not self._begins(following, one)] + columns[-1:]
        if len(kept) > 1:
            return spec | {"columns": kept}
        return {"column": kept[0]}

    def _begins(self, column: str, with_: str) -> bool:
        """Return whether most cells of a column begin with those of another one."""
        both = [(row[column], row[with_]) for row in self.sampled.rows if column in row and with_ in row]
        doubled = sum(text.casefold().startswith(f"{first.casefold()} ") for text, first in both)
        return doubled > 0 and doubled >= MOSTLY * len(both)

    def _doubt_of_name(self, spec: ColumnSpec) -> None:
        """Ask whether a column is the name where its texts are long or shared, or another one is called so too."""
        column, ids = spec["column"], columns_of(self.fields["item"]["id"])
        why = is_no_name(self.sampled, column, ids)
        example = next(iter(self.sampled.values(column)), "")
        shared = self._shared(column, ids)
        if shared is not None:
            joined: ColumnSpec = {"columns": [column, shared], "join": " – "}
            row = next(row for row in self.sampled.rows if column in row and shared in row)
            self._doubt(
                "name",
                f'{quoted(column)} is shared by items, such as "{example[:60]}", which {quoted(shared)} tells apart: '
                "is it a part of the name?",
                (
                    reading(f"name = {as_toml(joined)}", f"{row[column][:60]} – {row[shared][:60]}"),
                    reading(f"name = {as_toml(short_form(spec))}", example[:60]),
                ),
            )
        elif why:
            self._doubt("name", f'{quoted(column)} {why}, such as "{example[:60]}": is it the name of each item?')
        else:
            self._rival("name", spec)

    def _shared(self, column: str, ids: list[str]) -> str | None:
        """Return the column of short texts that tells most items of one name apart; None where names are not shared."""
        items = {tuple(row.get(name) for name in ids) for row in self.sampled.rows}
        names = set(self.sampled.values(column))
        if column in ids or len(items) < _ITEMS_MIN or len(names) * _ITEMS_OF_A_SERIES > len(items):
            return None
        pairs = {
            other: len({(row.get(column), row.get(other)) for row in self.sampled.rows})
            for other in self.sampled.columns
            if other != column and role_of(other) not in _NO_PART and self._is_short_text(other)
        }
        best = max(pairs, key=lambda other: pairs[other], default=None)
        return best if best is not None and pairs[best] >= _ITEMS_OF_A_SERIES * len(names) else None

    def _is_short_text(self, column: str) -> bool:
        cells = self.sampled.values(column)
        return len(cells) >= MOSTLY * len(self.sampled.rows) and (
            share_of(cells, lambda text: is_text(text) and len(text) <= _CHARACTERS_MAX) >= MOSTLY
        )
