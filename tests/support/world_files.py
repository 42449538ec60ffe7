"""Invented articles as files: the records of both shops, and labelled pairs, as public sets of labelled pairs have them."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.worlds import World

Row = Mapping[str, object]


def write_rows(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows as CSV below the names of the first one; return the path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_world(world: World, folder: Path) -> list[Row]:
    """Write left.csv and right.csv; return labelled pairs of every record with its twin and with another record."""
    for side, records in (("left", world.left), ("right", world.right)):
        rows = [
            {"id": record.key, "title": record.name, "manufacturer": record.brand, "price": record.price or ""}
            for record in records
        ]
        write_rows(folder / f"{side}.csv", rows)
    matches = sorted(world.matches)
    rights = [right for _, right in matches]
    wrong = [(left, other) for (left, _), other in zip(matches, rights[1:] + rights[:1], strict=True)]
    pairs: list[Row] = []
    for match, other in zip(matches, wrong, strict=True):
        pairs.append({"left_id": match[0], "right_id": match[1], "label": 1})
        if other not in world.matches:
            pairs.append({"left_id": other[0], "right_id": other[1], "label": 0})
    return pairs
