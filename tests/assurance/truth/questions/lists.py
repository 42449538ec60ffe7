"""The free lists: every entry of the tree of categories and of the channels."""

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.index import Index
from tests.assurance.truth.questions.items import path_of


def categories(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare every category with items, its own or below it."""
    own = dict(
        index.db.execute(
            "SELECT category, count(*) FROM active WHERE category IS NOT NULL GROUP BY category"
        ).fetchall()
    )
    totals: dict[str, int] = {}
    for code, n in own.items():
        parts = code.split(".")
        for depth in range(1, len(parts) + 1):
            above = ".".join(parts[:depth])
            totals[above] = totals.get(above, 0) + n
    theirs = {}
    for code, total in totals.items():
        path = path_of(index, code)
        theirs[code] = {
            "code": code,
            "name": path[-1],
            "path": path,
            "parent": code.rpartition(".")[0] or None,
            "level": len(path),
            "item_count": own.get(code, 0),
            "item_count_total": total,
            "children": sum(other.rpartition(".")[0] == code for other in totals),
        }
    yield from _compared("category", all_entries(client, "/index/categories", "code"), theirs)


def channels(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare every channel with observations."""
    rows = index.rows(
        "SELECT channel AS code, count(*) AS observations, max(day) AS last_seen_on FROM observations GROUP BY channel"
    )
    yield from _compared("channel", all_entries(client, "/index/channels", "code"), {row["code"]: row for row in rows})


def all_entries(client: Client, path: str, key: str) -> dict[str, Any]:
    """Return every entry of a list by its key, page by page."""
    found: dict[str, Any] = {}
    cursor = None
    while cursor is not None or not found:
        page = client.get(path, {"limit": 500, "cursor": cursor}).body
        found |= {entry[key]: entry for entry in page["data"]}
        cursor = page["next_cursor"]
        if not page["data"]:
            break
    return found


def _compared(what: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[Question]:
    for key in sorted(ours.keys() | theirs.keys()):
        yield Question(f"{what} {key}", ours.get(key), theirs.get(key))


ENDPOINTS = {"categories": categories, "channels": channels}
