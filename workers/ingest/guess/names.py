"""The name of an item."""

from workers.ingest.column_names import role_of
from workers.ingest.column_roles import is_no_name
from workers.ingest.column_specs import ColumnSpec, Open
from workers.ingest.guess.writer import FieldWriter, columns_of
from workers.ingest.toml_text import quoted


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
        self._missing("name", spec)
        column = columns_of(spec)[0] if columns_of(spec) else ""
        if not self.shape and column and (why := is_no_name(self.sampled, column, columns_of(item["id"]))):
            example = next(iter(self._cells({"column": column})), "")
            self._doubt("name", f'{quoted(column)} {why}, such as "{example[:60]}": is it the name of each item?')
        self._line("name", spec)
