"""Which columns are the levels of a category, from the widest. Pure."""

from workers.ingest.column_names import plain
from workers.ingest.guess.cell_kinds import HALF, MOSTLY, is_list, share_of
from workers.ingest.sampling.sample import Sample

_LEVELS_MAX = 8
_PATH_MARKS = (">", "›", "|", "»", "::", "/")


def category_levels(sampled: Sample, columns: list[str]) -> list[str]:
    """Return the columns that are levels of a category: none twice, and a type only where most rows have no category.

    Of the members of an object, such as id, name and slug, its name is the level. A list of texts is the whole path.
    """
    if in_list := [column for column in columns if column.rpartition(".")[2].isdecimal()]:
        holder = in_list[0].rpartition(".")[0]
        if holder in columns:  # the second column or part of a name: of parts each is a category, of columns a level
            return [holder] if "records" in sampled.form else [holder, *in_list][:_LEVELS_MAX]
        return [column for column in in_list if column.rpartition(".")[0] == holder][:_LEVELS_MAX]
    named = {column.removesuffix(".name") for column in columns if column.endswith(".name")}
    columns = [column for column in columns if column.endswith(".name") or column.rpartition(".")[0] not in named]
    # `category.parent.name` is wider than `category.name`.
    above = [column for column in columns if ".parent." in column]
    kinds = [column for column in columns if plain(column).endswith("type")]
    levels = sorted((column for column in columns if column not in kinds), key=sampled.columns.index)
    if all(2 * len(sampled.values(column)) < len(sampled.rows) for column in levels):
        levels = kinds or levels  # a category that most rows lack, beside a type that they have
    whole = [column for column in levels if _is_whole_path(sampled, column, levels)]
    levels = whole[:1] or _widest_first(sampled, levels)
    if above and not whole:
        levels = sorted(levels, key=lambda column: -column.count(".parent."))
    cells = [[text.casefold() for text in sampled.values(column)] for column in levels]
    kept = [column for place, column in enumerate(levels) if cells[place] not in cells[:place]]
    return [_as_people_write(sampled, column, levels) for column in kept][:_LEVELS_MAX]


def _is_whole_path(sampled: Sample, column: str, levels: list[str]) -> bool:
    """Return whether a column has the whole path of which other levels have the parts: as a list, or joined."""
    cells = sampled.values(column)
    if len(levels) < 2 or not cells:
        return False
    if share_of(cells, is_list) >= HALF:
        return True
    longer = [row for row in sampled.rows if column in row]
    others = [one for one in levels if one != column]
    joined = sum(
        any(row[column] != row.get(one) and len(row.get(one, "")) > 1 and row[one] in row[column] for one in others)
        and any(mark in row[column] for mark in _PATH_MARKS)
        for row in longer
    )
    return joined >= MOSTLY * len(longer) and joined >= HALF * len(sampled.rows)


def _widest_first(sampled: Sample, levels: list[str]) -> list[str]:
    """Return levels with the widest first, where the cells say so: each text of a narrower one has one wider text."""
    if len(levels) != 2:
        return levels
    first, second = levels
    pairs = {(row[first], row[second]) for row in sampled.rows if first in row and second in row}
    narrow, wide = ({pair[place] for pair in pairs} for place in (0, 1))
    return [second, first] if len(pairs) == len(narrow) > len(wide) > 1 else levels


def _as_people_write(sampled: Sample, column: str, levels: list[str]) -> str:
    """Return the level that has a column's texts with capital letters, as `Rings` beside `rings`."""
    cells = sampled.values(column)
    same = (one for one in levels if [*map(str.casefold, sampled.values(one))] == [*map(str.casefold, cells)])
    return max(same, key=lambda one: sum(text != text.lower() for text in sampled.values(one)))
