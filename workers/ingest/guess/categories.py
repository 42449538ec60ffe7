"""The category of an item: levels, or a path in one text."""

from dataclasses import dataclass, field

from shared.toml_text import as_toml, quoted
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.files.xml_groups import SPLITS
from workers.ingest.guess.cell_kinds import HALF, is_list, share_of
from workers.ingest.guess.writer import FieldWriter, columns_of, has_or_have, reading, share_of_cells

_PATHS = (" >> ", " > ", " -> ", " › ", ">>", "->", ">", " | ", "|", " » ", "::")
# A slash may also stand within the name of one level.
_SLASHES = (" / ", "/")


@dataclass
class CategoryWriter(FieldWriter):
    """Writes the category."""

    category_table: list[str] = field(default_factory=list)
    """The lines of a category by its id, which is a table of its own, behind the other fields of an item."""

    def _category(self, levels: list[ColumnSpec]) -> None:
        if len(levels) == 1 and "crosswalk" in levels[0]:
            self._tree(levels[0])
            return
        made = list(levels)
        bracketed = len(levels) == 1 and "split" not in levels[0] and share_of(self._cells(levels[0]), is_list)
        if bracketed and bracketed >= HALF:  # a list as JSON writes it
            inner = next((mark for mark in _PATHS if _are_in(mark, self._cells(levels[0])) >= HALF), " > ")
            marks = {'["': "", '"]': "", '", "': inner, '","': inner}
            made = [levels[0] | {"replace": marks, "split": inner}]
        elif len(levels) == 1 and "split" not in levels[0]:
            cells = self._cells(levels[0])
            mark = next((mark for mark in (*_PATHS, *_SLASHES) if _are_in(mark, cells) >= HALF), None)
            if mark in _PATHS:
                made = [levels[0] | {"split": mark}]
            elif mark:
                whole = next(text for text in cells if mark in text)
                path = reading(f"category = {as_toml(levels[0] | {'split': mark})}", whole.replace(mark, " > "))
                self._doubt("category", f'is "{whole}" a path of several levels? If so, write', (path,))
        widest = f"{self._given(made[0])}, from the widest" if len(made) > 1 else self._given(made[0])
        self._line("category", made[0] if len(made) == 1 else made, widest)

    def _tree(self, spec: ColumnSpec) -> None:
        names = spec["crosswalk"]
        known = sum(text in names for text in self._cells(spec))
        categories = len(set(names.values()))
        by = "their ids" if categories == len(names) else f"the ids in {quoted(columns_of(spec)[0])}"
        self._doubt(
            "category",
            f"the file's own names of its {categories:,} categories are written below, by {by}: an item of a "
            "later file with another id would have no category",
        )
        self.category_table = [
            "",
            "[item.category]",
            *(f"{key} = {as_toml(value)}" for key, value in self._as_written(spec).items() if key != "crosswalk"),
            "",
            f"[item.category.crosswalk]  # {share_of_cells(known, len(self.sampled.rows))} {has_or_have(known)} one",
            *(f"{quoted(own)} = {quoted(path)}" for own, path in names.items()),
        ]


def tree_field(column: str, paths: dict[str, tuple[str, ...]]) -> ColumnSpec:
    """Return the field of categories by their ids, whose names are joined by what none of them has."""
    split = next(
        (mark for mark in SPLITS if not any(mark.strip() in name for path in paths.values() for name in path)), ""
    )
    joined = {own: split.join(path) if split else path[-1] for own, path in paths.items()}
    spec: ColumnSpec = {"column": column, "crosswalk": joined}
    return spec | {"split": split} if split else spec


def _are_in(mark: str, cells: list[str]) -> float:
    return share_of(cells, lambda text: mark in text)
