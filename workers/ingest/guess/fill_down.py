"""Cells that only the first of several rows has, such as the name of a product above its variants. Pure."""

from itertools import groupby
from operator import itemgetter
from typing import TypedDict

from workers.ingest.column_names import WHOLE, name_score, role_names, role_of
from workers.ingest.column_specs import ItemSpecs
from workers.ingest.sampling.sample import Row, Sample

_KEYS_OF_PRODUCTS = frozenset(("", "id", "mpn", "url"))


class FillDownForm(TypedDict):
    """The key of a mapping that says which cells are those of the row above."""

    within: str
    columns: list[str]


def fill_down_of(sampled: Sample, item: ItemSpecs) -> FillDownForm | None:
    """Return how a name that only the first of several rows has is that of all, such as of a product's variants."""
    name, others = item["name"], [item.get("brand"), *item.get("category", [])]
    if not isinstance(name, dict) or "column" not in name or len(sampled.values(name["column"])) == len(sampled.rows):
        return None
    whole = [column for column in sampled.columns if len(sampled.values(column)) == len(sampled.rows)]
    for within in whole:
        # Equal stocks or prices in two rows do not make them one product.
        if within != name["column"] and role_of(within) in _KEYS_OF_PRODUCTS:
            groups = [list(rows) for _, rows in groupby(sampled.rows, key=itemgetter(within))]
            if all(_cells(rows, name["column"]) == {rows[0].get(name["column"])} for rows in groups):
                columns = [spec["column"] for spec in others if spec is not None]
                alike = [c for c in columns if all(_cells(rows, c) <= {rows[0].get(c)} for rows in groups)]
                return {"within": within, "columns": [name["column"], *alike]}
    variants = [c for c in sampled.columns if name_score(c, role_names()["variant"]) >= WHOLE - 50]
    nameless = [row for row in sampled.rows if name["column"] not in row]
    if name["column"] in sampled.rows[0] and all(not row.keys().isdisjoint(variants) for row in nameless):
        columns = [spec["column"] for spec in others if spec is not None and not _cells(nameless, spec["column"])]
        return {"within": name["column"], "columns": [name["column"], *columns]}
    return None


def _cells(rows: list[Row], column: str) -> set[str]:
    return {row[column] for row in rows if column in row}
