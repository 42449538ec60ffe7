"""Cells behind the first rows of a file that say what no earlier one does: a currency, or that there is no value."""

import pyarrow as pa
import pyarrow.compute as pc

from workers.ingest.batches import Batch
from workers.ingest.column_names import plain, word_list
from workers.ingest.sampling.sample import NOTHING, Sample

# A column that has more is none of amounts.
_STATED_MAX = 40
# What is left of a price without its figure is what it states: the mark of a currency, or a text in place of a price.
_FIGURES = r"[\pN\s.,'’`\x{00a0}\x{202f}\x{2013}\x{2014}\x{2212}\x{066b}\x{066c}，．-]+"

_NO_LETTERS = r"[^\pL\pM\pN]+"


class FurtherCells:
    """Looks through batches of all rows: of columns of amounts for what they state, of others for words of no value."""

    def __init__(self, sampled: Sample, amounts: list[str], others: list[str]) -> None:
        self._first = {column: set(sampled.values(column)) for column in dict.fromkeys((*amounts, *others))}
        self._stated = {column: set(_without_figures(list(self._first[column]))) for column in amounts}
        self._others = [column for column in dict.fromkeys(others) if column not in self._stated]
        words = [*word_list("nothing"), *word_list("no_category_text")]
        self._nothing = pa.array(sorted({*map(str.lower, words), *map(plain, words)}))
        self._signs = pa.array(sorted(NOTHING))
        self._found: dict[str, dict[str, None]] = {}

    def add(self, batch: Batch) -> None:
        """Note the cells of a batch that say something new."""
        for column in [column for column, stated in self._stated.items() if len(stated) <= _STATED_MAX]:
            cells = pc.unique(batch.columns[column].cast(pa.string()))
            stated = pc.replace_substring_regex(cells, _FIGURES, "")
            for mark in pc.unique(stated).drop_null().to_pylist():
                if mark not in self._stated[column]:
                    self._stated[column].add(mark)
                    self._note(column, [cells[pc.index(stated, mark).as_py()].as_py()])
        for column in self._others:
            cells = pc.unique(batch.columns[column].cast(pa.string()))
            words = pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.utf8_lower(cells), _NO_LETTERS, " "))
            none = pc.or_(pc.is_in(words, value_set=self._nothing), pc.is_in(cells, value_set=self._signs))
            if pc.any(none).as_py():
                self._note(column, cells.filter(none).to_pylist())

    def cells(self) -> dict[str, tuple[str, ...]]:
        """Return the cells of each column, one for each thing that it says."""
        return {
            column: tuple(cells)
            for column, cells in self._found.items()
            if len(self._stated.get(column, ())) <= _STATED_MAX
        }

    def _note(self, column: str, cells: list[str]) -> None:
        new = (text for cell in cells if (text := cell.strip()) and text not in self._first[column])
        self._found.setdefault(column, {}).update(dict.fromkeys(new))


def _without_figures(cells: list[str]) -> list[str]:
    return [str(text) for text in pc.replace_substring_regex(pa.array(cells, pa.string()), _FIGURES, "").to_pylist()]
