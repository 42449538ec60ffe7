"""The category of an item: levels, or a path in one text."""

from workers.ingest.column_roles import HALF, is_list, share_of
from workers.ingest.column_specs import ColumnSpec
from workers.ingest.guess.writer import FieldWriter, reading_line
from workers.ingest.toml_text import as_toml

_PATHS = (" >> ", " > ", " › ", ">>", ">", " | ", "|", " » ", "::")
# A slash may also stand within the name of one level.
_SLASHES = (" / ", "/")


class CategoryWriter(FieldWriter):
    """Writes the category."""

    def _category(self, levels: list[ColumnSpec]) -> None:
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
                path = reading_line(f"category = {as_toml(levels[0] | {'split': mark})}", whole.replace(mark, " > "))
                self._doubt("category", f'is "{whole}" a path of several levels? If so, write', (path,))
        widest = f"{self._given(made[0])}, from the widest" if len(made) > 1 else self._given(made[0])
        self._line("category", made[0] if len(made) == 1 else made, widest)


def _are_in(mark: str, cells: list[str]) -> float:
    return share_of(cells, lambda text: mark in text)
