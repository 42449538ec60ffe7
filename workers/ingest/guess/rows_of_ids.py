"""Which column tells the rows of a file apart, where the first one that is called an id does not. Pure."""

from workers.ingest.column_names import WHOLE, name_score, role_names
from workers.ingest.guess.cell_kinds import HALF, MOSTLY
from workers.ingest.sampling.sample import Row, Sample

# An id that so many names share, on average, is none.
_NAMES_OF_AN_ID = 4
_IDS_MIN = 4


def choose_id_of_rows(sampled: Sample, roles: dict[str, list[str]], taken: dict[str, str]) -> None:
    """Take an id that each row has where the first one is that of a product with several, or some rows have none."""
    if "id" not in roles:
        return
    cells, each = sampled.values(roles["id"][0]), sampled.form.get("each", "")
    if each:  # members of a list, such as variants, would be one item with that of the object around them
        needed = "price" in roles and replaced(sampled, [roles["id"][0], *keys_of_prices(roles)]) is not None
        own = [column for column in sampled.columns if column.startswith(f"{each}.")]
    else:
        has_gaps = len(cells) < len(sampled.rows) and len(set(cells)) == len(cells)
        needed = has_gaps or _are_variants(sampled, roles)
        own = [column for column in sampled.columns if taken.get(column, "id") == "id"]
    scores = {column: name_score(column, role_names()["id"]) for column in own if _tells_rows_apart(sampled, column)}
    best = max(scores, key=lambda column: scores[column], default="")
    if needed:
        roles["id"] = [best, *roles["id"]] if scores.get(best) and best not in roles["id"] else roles["id"]
    elif not _tells_rows_apart(sampled, roles["id"][0]) and scores.get(best, 0) >= WHOLE - 50:
        roles["id"].append(best)  # a question where rows would replace one another
    if instead := _instead_of_one_for_many(sampled, roles):
        roles["id"] = [instead, *roles["id"]]


def _instead_of_one_for_many(sampled: Sample, roles: dict[str, list[str]]) -> str:
    """Return the link or the name that is the id where one that is called so is that of many names; else nothing."""
    column, names = roles["id"][0], roles.get("name", ["", ""])[0]
    named = set(sampled.values(names))
    if len(named) < _IDS_MIN or len(set(sampled.values(column))) * _NAMES_OF_AN_ID > len(named):
        return ""
    links = [one for one in roles.get("url", []) if len(set(sampled.values(one))) >= MOSTLY * len(named)]
    return next(iter(links), names) if _mostly_differ(sampled, [column], names) else ""


def _tells_rows_apart(sampled: Sample, column: str) -> bool:
    cells = sampled.values(column)
    whole = len(set(cells)) == len(cells) >= MOSTLY * len(sampled.rows)
    return whole and column not in sampled.repeated


def _are_variants(sampled: Sample, roles: dict[str, list[str]]) -> bool:
    """Return whether rows with one id mostly have several names or variants at a time, or several GTINs at any."""
    [column, *_] = roles["id"]
    at_a_time = [column, *keys_of_prices(roles)]
    keys = {"name": at_a_time, "variant": at_a_time, "gtin": [column]}
    return any(
        _mostly_differ(sampled, key, roles[role][0])
        for role, key in keys.items()
        if role in roles and roles[role][0] != column
    )


def _mostly_differ(sampled: Sample, key: list[str], column: str) -> bool:
    """Return whether rows that are alike in the columns of a key mostly differ in another column."""
    groups: dict[tuple[str | None, ...], list[str | None]] = {}
    for row in sampled.rows:
        groups.setdefault(tuple(map(row.get, key)), []).append(row.get(column))
    repeated = [cells for cells in groups.values() if len(cells) > 1]
    differing = sum(len(set(cells)) > 1 for cells in repeated)
    return differing > 0 and differing >= HALF * len(repeated)


def keys_of_prices(roles: dict[str, list[str]]) -> list[str]:
    """Return the columns that keep apart the prices of an item."""
    return [roles[role][0] for role in ("day", "channel", "currency") if role in roles]


def replaced(sampled: Sample, columns: list[str]) -> Row | None:
    """Return the first row that has in these columns what an earlier row has; None where none does."""
    met = set()
    for row in sampled.rows:
        key = tuple(row.get(column) for column in columns)
        if key in met:
            return row
        met.add(key)
    return None
