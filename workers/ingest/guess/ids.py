"""The id of an item: what it would merge, and what another column says."""

from shared.gtin import is_shortened
from shared.printable import many
from shared.toml_text import as_toml, quoted
from workers.ingest.calendar_days import parsed
from workers.ingest.column_names import role_of
from workers.ingest.column_specs import ColumnSpec, Open
from workers.ingest.guess.day_formats import day_formats
from workers.ingest.guess.rows_of_ids import replaced
from workers.ingest.guess.writer import FieldWriter, columns_of, reading, share_of_cells, short_form

# So many rows of an item, on average, are rather several items.
_ROWS_OF_AN_ITEM = 2


class IdWriter(FieldWriter):
    """Writes the id."""

    def _id(self, spec: ColumnSpec | Open) -> None:
        item = self.fields["item"]
        if spec == "?":
            self._doubt(
                "id", "no column seems to be the source's own id of the item: name one, or several that make one"
            )
        spec = self._name_where_rows_have_no_id(spec)
        cells, columns = self._cells(spec), columns_of(spec)
        for column in self.sampled.columns:
            shortened = [cell for cell in self._numbered({"column": column}) if is_shortened(cell[1])]
            if shortened and (role_of(column) in ("id", "gtin", "isbn") or column in columns):
                self._doubt(
                    "id",
                    f"a spreadsheet has cut numbers of {quoted(column)} ({self._examples(shortened)}): their digits "
                    "are lost, and no id is taken from this column. Export it again as text",
                )
        if columns and columns == columns_of(item["name"]):
            self._doubt(
                "id", "no column seems to be an id: the name is taken for it, and another spelling is another item"
            )
        if spec != "?" and "match" in spec and not self.shape:
            self._doubt(
                "id",
                f"no column seems to be an id: the number in {quoted(columns[0])} is taken for it, such as {cells[0]}",
            )
        self._missing("id", spec)
        self._categories(spec)
        self._other_id(spec)
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

    def _name_where_rows_have_no_id(self, spec: ColumnSpec | Open) -> ColumnSpec | Open:
        """Return the name where most rows have no id although they have a name, as sheets filled in by hand are."""
        name: ColumnSpec | Open = self.fields["item"]["name"]
        rows = len(self.sampled.rows)
        cells, names = self._cells(spec), self._cells(name)
        if spec == "?" or name == "?" or not columns_of(spec) or 2 * len(cells) >= rows or 2 * len(names) < rows:
            return spec
        if len(set(cells)) < len(cells):
            return spec
        self._doubt(
            "id",
            f"{share_of_cells(rows - len(cells), rows, 'row')} have no {quoted(columns_of(spec)[0])}: the name is "
            "taken",
            (
                reading(f"id = {as_toml(short_form(name))}", f"{names[0][:60]} is an item"),
                reading(f"id = {as_toml(short_form(spec))}", "rows without it are rejected"),
            ),
        )
        return name

    def _categories(self, spec: ColumnSpec | Open) -> None:
        """Say that rows of one item have several categories, of which a load keeps the last."""
        levels = self.fields["item"].get("category", [])
        path = columns_of(levels)
        met: dict[tuple[str, ...], tuple[str, ...]] = {}
        for row in self.sampled.rows if columns_of(spec) and path else ():
            own = tuple(row.get(column, "") for column in columns_of(spec))
            its = tuple(row[column] for column in path if column in row)
            if all(own) and its and met.setdefault(own, its) != its:
                first, last = (" > ".join(one) for one in (met[own], its))
                self._doubt(
                    "category",
                    f"rows of one item, such as {quoted(own[0][:40])}, have several categories, {quoted(first[:60])} "
                    f"and {quoted(last[:60])}: an item has one, and that of its last row is loaded. To load another, "
                    "leave its other rows out of the file",
                )
                return

    def _other_id(self, spec: ColumnSpec | Open) -> None:
        """Ask which of two columns is the id, where rows with one id would replace one another."""
        others = self._runners_up("id")
        columns, observation = columns_of(spec), self.fields.get("observation", {})
        apart = [column for key in ("day", "channel", "currency") for column in columns_of(observation.get(key, []))]
        if not others or len(columns) != 1 or "each" in self.sampled.form:
            return
        columns.append(others[0])
        distinct = {column: len(set(self.sampled.values(column))) for column in columns}
        once, often = sorted(columns, key=lambda column: -distinct[column])
        if replaced(self.sampled, [often, *apart]) is None:
            return
        counts = (
            f"{quoted(column)} has {distinct[column]:,} distinct in {many(len(self.sampled.values(column)), 'cell')}"
            for column in (once, often)
        )
        self._doubt(
            "id",
            f"{', '.join(counts)}: rows with the same id are one item, whose last price on a day is loaded",
            tuple(
                reading(f"id = {quoted(column)}", f"{self.sampled.values(column)[0]} is an item") for column in columns
            ),
        )

    def _replaced(self, spec: ColumnSpec | Open) -> None:
        """Say that members of a list, such as variants, or rows would replace one another as prices of one item."""
        observation = self.fields.get("observation", {})
        if not columns_of(spec) or not observation.get("price"):
            self._repeated(spec)
            return
        apart = [column for key in ("day", "channel", "currency") for column in columns_of(observation.get(key, []))]
        key = [*columns_of(spec), *apart]
        if "each" not in self.sampled.form:
            self._replaced_rows(key, observation["price"])
            return
        row = replaced(self.sampled, key)
        if row is not None:
            each, shared = quoted(self.sampled.form["each"]), quoted(row.get(columns_of(spec)[0], ""))
            self._doubt(
                "id",
                f"several members of {each} have the id {shared} on the same day: the last price replaces the others. "
                f"If each is an item of its own, its id is a column of {each}",
            )

    def _repeated(self, spec: ColumnSpec | Open) -> None:
        """Say that many rows are one item where nothing but the item is loaded of them."""
        cells = self._cells(spec)
        if len(set(cells)) * _ROWS_OF_AN_ITEM <= len(cells):
            self._doubt(
                "id",
                f"{len(cells):,} rows have {len(set(cells)):,} ids, and rows with one are one item: if they are "
                'several, columns that tell them apart are a part of the id, as in id = ["model", "size"]',
            )

    def _replaced_rows(self, key: list[str], price: ColumnSpec) -> None:
        """Say how many rows have another price than the first one of their item on their day, with an example."""
        prices: dict[tuple[object, ...], str] = {}
        days, differing = self._days_of_cells(), []
        for place, text in self._numbered(price):
            row = self.sampled.rows[place]
            cells = [days.get((column, row.get(column)), row.get(column)) for column in key]
            if key[0] in row and (first := prices.setdefault(tuple(cells), text)) != text:
                differing.append((row[key[0]], first, text))
        if differing:
            of, first, other = (quoted(text[:40]) for text in differing[0])
            self._doubt(
                "id",
                f"of {many(len(self.sampled.rows), 'row')} {len(differing):,} have the id of an earlier one on the "
                f"same day at another price, as {of} at {first} and {other}: the last price replaces the others, "
                'unless identity is "event" or a column tells them apart',
            )

    def _days_of_cells(self) -> dict[tuple[str, str | None], int]:
        """Return the day of each cell of the day's column: two times of one day are one day to a load."""
        days: dict[tuple[str, str | None], int] = {}
        for column in columns_of(self.fields.get("observation", {}).get("day", [])):
            cells = set(self.sampled.values(column))
            forms = tuple(day_formats(list(cells), 0))
            days |= {(column, cell): day for cell in cells if (day := parsed(cell, forms)) is not None}
        return days
