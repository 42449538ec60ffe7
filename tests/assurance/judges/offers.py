"""Pairs of marketplaces' offers in the published form of WDC Products: read, invented, and judged.

A line of JSON is a pair: `id_left`, `title_left`, `brand_left`, `description_left`, the same of the right side, and `label`.
An offer may stand on both sides, and several offers are one product.
"""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.worlds import markets
from workers.articles.matching.evaluation import Evaluation, evaluate
from workers.articles.matching.model import Model

_FIELDS = ("brand", "title", "description")
_SIDES = ("left", "right")
# Every record is in as many wrong pairs as it is in right ones, and in so many more.
_WRONG_BESIDES = 3
_FORM = ".json.gz"

Row = dict[str, object]


def files_of(folder: Path) -> list[Path]:
    """Return the files of pairs in a folder."""
    return sorted(folder.rglob(f"*{_FORM}"))


def judge(path: Path, scratch: Path, model: Model) -> tuple[Evaluation, Evaluation]:
    """Judge the pairs of a file among all of its offers, as listed and end to end; no label of it is used."""
    rows = list(_rows(path))
    for side in _SIDES:
        offers = {str(row[f"id_{side}"]): row for row in rows}
        records = ([key, *(row[f"{field}_{side}"] or "" for field in _FIELDS)] for key, row in offers.items())
        _write(scratch / f"{side}.csv", ("id", *_FIELDS), records)
    labelled = ([row["id_left"], row["id_right"], row["label"]] for row in rows)
    _write(scratch / "pairs.csv", ("left_id", "right_id", "label"), labelled)
    left, right, pairs = (scratch / f"{name}.csv" for name in (*_SIDES, "pairs"))
    listed, found = (evaluate(left, right, pairs, model, end_to_end=all_found) for all_found in (False, True))
    return listed, found


def write_market(folder: Path, articles: int, seed: int) -> Path:
    """Write the pairs of an invented marketplace whose offers are known to be one article or not."""
    [market] = markets(1, seed, articles)
    records = {record.key: record for record in (*market.left, *market.right)}
    copies = (pair for pair in market.matches if records[pair[0]].name == records[pair[1]].name)
    matches = sorted(market.matches.difference(copies))
    rights = [right for _, right in matches]
    shifted = (
        (left, other)
        for by in range(1, _WRONG_BESIDES + 1)
        for (left, _), other in zip(matches, rights[by:] + rights[:by], strict=True)
    )
    pairs = dict.fromkeys((*matches, *shifted))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"market{_FORM}"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for ends in pairs:
            row: Row = {"label": int(ends in market.matches)}
            for side, record in zip(_SIDES, map(records.__getitem__, ends), strict=True):
                values = (record.key, record.brand, record.name, record.description)
                row |= {f"{name}_{side}": value for name, value in zip(("id", *_FIELDS), values, strict=True)}
            file.write(json.dumps(row) + "\n")
    return path


def _rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _write(path: Path, names: tuple[str, ...], rows: Iterator[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
