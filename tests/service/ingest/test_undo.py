"""An event that is undone leaves nothing: the index answers as a fresh one does in which only the others happened."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from edge.index.record import SQL as RECORDS
from edge.index.record import document
from shared.db.connect import Connection, connect
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.servers import Servers
from tests.support.shop import MAPPING, load_rows
from workers.analytics.rollups.refresh import rebuild
from workers.provenance import events, item_acts, items
from workers.provenance.deletions import DeletionScope, NothingToDelete, delete
from workers.provenance.item_acts import ActRefused
from workers.provenance.undo import undo

# Times and data_versions differ between two histories, and so do surrogate numbers.
ANSWERS = {
    "items": """
        SELECT i.iid, i.name, i.alt_names, i.status, i.survivor_iid, b.slug, c.code, i.product_type, i.identifiers::text,
               i.attributes::text, i.version, i.first_seen_on, i.field_sources::text
        FROM items i LEFT JOIN brands b ON b.id = i.brand_id LEFT JOIN categories c ON c.id = i.category_id""",
    "impacts": """
        SELECT i.iid, p.indicator, p.per_unit, p.basis, p.method, s.name, p.as_of
        FROM impacts p JOIN items i ON i.id = p.item_id JOIN sources s ON s.id = p.source_id""",
    "item_sources": """
        SELECT i.iid, s.name, t.source_item_id, t.content_hash, t.observed_at, t.first_day
        FROM item_sources t JOIN items i ON i.id = t.item_id JOIN sources s ON s.id = t.source_id""",
    "observations": """
        SELECT o.item_id, o.mark, o.price_minor, o.list_minor, o.day, h.code, o.units, s.name, o.kind::text, o.currency
        FROM observations o JOIN channels h ON h.id = o.channel_id JOIN sources s ON s.id = o.source_id""",
    "identifiers": """
        SELECT t.scheme, t.value, t.brand, t.item_id, s.name
        FROM item_identifiers t JOIN sources s ON s.id = t.source_id""",
    "owners": "SELECT item_id, owner_id FROM inactive_items",
    "links": "SELECT left_id, right_id, kind, score, decision, evidence::text FROM links WHERE decision = 'link'",
    "brands": "SELECT slug, name, folded_name, item_count, top_categories, channels, first_seen_on FROM brands",
    "categories": "SELECT code, path FROM categories",
    "category_tree": "SELECT code, parent, level, item_count, item_count_total FROM category_tree",
    "channels": "SELECT code FROM channels",
    "factors": """
        SELECT f.scope, f.code, f.indicator, f.per_kg, f.samples, f.method, f.basis, f.log_samples, f.log_deviation, s.name
        FROM impact_factors f JOIN sources s ON s.id = f.source_id""",
    "cells": """
        SELECT c.scope::text, coalesce(b.slug, g.code, h.code, ''), c.month, c.currency, c.kind::text, c.n, c.items, c.units,
               c.days, c.prices, c.list_prices
        FROM month_cells c LEFT JOIN brands b ON c.scope = 'b' AND b.id = c.id
        LEFT JOIN categories g ON c.scope IN ('c', 't') AND g.id = c.id LEFT JOIN channels h ON c.scope = 'h' AND h.id = c.id""",
}

CELLS = "SELECT scope::text, id, month, currency, kind::text, n, items, units, days, channels, prices, list_prices, entries, item_ids, item_prices FROM month_cells"

MOMENTS = "SELECT iid, updated_at::text FROM items UNION ALL SELECT slug, updated_at::text FROM brands"


def ask(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return sorted(connection.execute(query).fetchall(), key=repr)


def records(connection: Connection) -> list[str]:
    """Every record as the lookup makes it, without what two histories differ in."""
    iids = [row[0] for row in connection.execute("SELECT iid FROM items WHERE status = 'active' ORDER BY iid")]
    cursor = connection.cursor()
    rows = cursor.execute(RECORDS.records, (iids,)).fetchall()
    names = [column.name for column in cursor.description or ()]
    made = []
    for row in rows:
        values = {
            name: json.dumps(value, default=str)
            if isinstance(value, dict | list) and name not in ("alt_names", "category_path")
            else value
            for name, value in zip(names, row, strict=True)
        }
        shown = document(values, "https://example.test")
        shown["updated_at"] = None
        shown["matches"] = [{**match, "since": None} for match in shown["matches"]]
        shown["brand"] = shown["brand"] and shown["brand"]["slug"]
        made.append(json.dumps(shown, default=str))
    return sorted(made)


def answers(connection: Connection) -> dict[str, Any]:
    found: dict[str, Any] = {name: ask(connection, query) for name, query in ANSWERS.items()}
    return found | {"records": records(connection)}


def everything(connection: Connection) -> dict[str, Any]:
    """All answers with their moments and cells to the byte: what a load and its undoing must leave as it was."""
    exact = {
        "cells to the byte": ask(connection, CELLS),
        "moments": ask(connection, MOMENTS),
        "every link": ask(connection, "SELECT left_id, right_id, kind, score, evidence::text FROM links"),
    }
    return answers(connection) | exact


def in_transaction(settings: Settings, act: Callable[[Connection], Any]) -> Any:
    with connect(settings.database_url, application="tests") as connection:
        events.lock(connection)
        return act(connection)


@dataclass(frozen=True)
class Happening:
    """One event of a history: a load of rows, or an act."""

    kind: str
    source: str = ""
    rows: str = ""
    iids: tuple[str, ...] = ()
    chosen: DeletionScope = DeletionScope()

    def happen(self, settings: Settings, folder: Path, number: int) -> int | None:
        """Let it happen, and return its number; None where it is refused, or was nothing."""
        if self.kind == "load":
            text = MAPPING.replace('source = "shop"', f'source = "{self.source}"\nrank = {ord(self.source[-1]) % 2}')
            text = text.replace('currency = { constant = "HKD" }', 'currency = "list"').replace(
                'list_price = "list"\n', ""
            )
            text = text.replace('sku = "sku"\n', f'sku = "sku"\ngtin = {GTINS}\n')
            # Likeness is judged among all records that there are, so two histories may judge a pair otherwise.
            text += IMPACTS + '[match]\ntrust = "identifiers"\n'
            load_rows(settings, folder, self.rows, text=text, name=f"{number}.csv")
        else:
            try:
                in_transaction(settings, self._act)
            except (ActRefused, NothingToDelete):
                return None
        [row] = execute(settings, "SELECT max(no) FROM events")
        return int(row[0])

    def _act(self, connection: Connection) -> object:
        if self.kind == "merge":
            return item_acts.merge(connection, *self.iids, "tests", None)
        if self.kind in ("accept", "separate"):
            return item_acts.decide(connection, *self.iids, self.kind == "accept", "tests", None)
        if self.kind == "withdraw":
            return item_acts.withdraw(connection, *self.iids, "tests", None)
        return delete(connection, self.chosen, "tests", None, dry_run=False)


IMPACTS = '\n[[impacts]]\nindicator = "co2e_kg"\nvalue = { column = "price", null = ["2", "9"] }\nbasis = "modelled"\nmethod = "m"\n'

# Items of different sources that have one of these GTINs are linked; which items have one changes with their names.
ONE, OTHER = "4006381333931", "9780201379624"

NAMED = {**{f"Item {n}": ONE for n in range(3)}, "Item 3": OTHER, **{f"Thing {n}": OTHER for n in (0, 1, 3)}}

CROSSWALK = ", ".join(f'"{name}" = "{gtin}"' for name, gtin in NAMED.items())

GTINS = f'{{ column = "name", crosswalk = {{ {CROSSWALK} }} }}'

SOURCES = ("shop_a", "shop_b", "shop_c")

IIDS = tuple(mint(source, str(number)).iid for source in SOURCES for number in range(4))


def some_rows(chance: random.Random) -> str:
    rows = []
    for _ in range(chance.choice((1, 3, 8))):
        number = chance.randrange(4)
        brand = chance.choice(("Vita", "VITA", "Maison", "", ""))
        group, kind = chance.choice((("Drinks", "Soy"), ("drinks", "Tea"), ("Home", ""), ("", "")))
        name = chance.choice((f"Item {number}", f"Thing {number}"))
        day = f"2026-0{chance.choice((5, 6))}-0{chance.randint(1, 3)}"
        price, currency = chance.choice(("1.50", "2", "9")), chance.choice(("HKD", "HKD", "USD"))
        store = chance.choice(("NORTH", "SOUTH", f"S{chance.randint(1, 9)}"))
        rows.append(
            f"{number},{name},{brand},{group},{kind},{chance.choice(('1', ''))},{day},{store},{price},{currency}\n"
        )
    return "".join(rows)


def something(chance: random.Random) -> Happening:
    kind = chance.choice(("load", "load", "load", "load", "merge", "withdraw", "delete", "accept", "separate"))
    if kind == "load":
        return Happening("load", chance.choice(SOURCES), some_rows(chance))
    if kind == "delete":
        return Happening(
            "delete",
            chosen=chance.choice(
                (
                    DeletionScope(source=chance.choice(SOURCES)),
                    DeletionScope(iid=chance.choice(IIDS)),
                    DeletionScope(source="shop_a", iid=IIDS[0]),
                )
            ),
        )
    return Happening(kind, iids=tuple(chance.sample(IIDS, 1 if kind == "withdraw" else 2)))


def fresh_answers(servers: Servers, folder: Path, history: list[Happening]) -> dict[str, Any]:
    """Return what an index answers in which only this happened."""
    with servers.fresh() as settings:
        for number, one in enumerate(history):
            one.happen(settings, folder, 1_000 + number)
        with connect(settings.database_url, application="tests") as connection:
            return answers(connection)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(int(metafunc.config.getoption("histories"))))


@pytest.fixture
def asking(settings: Settings) -> Iterator[Connection]:
    """A connection that asks again and again: its statements are planned once in a test, not once a step."""
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        yield connection


def test_an_undone_event_is_as_if_it_had_never_been(
    servers: Servers, settings: Settings, asking: Connection, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    history: list[tuple[int, Happening]] = []
    before = everything(asking)
    for number in range(7):
        one = something(chance)
        no = one.happen(settings, tmp_path, number)
        if no is None:
            assert everything(asking) == before
            continue
        history.append((no, one))
        after = None
        if chance.random() < 0.4:
            undone = chance.choice(history)
            history.remove(undone)
            in_transaction(settings, lambda connection, no=undone[0]: undo(connection, str(no), "tests", None))
            after = everything(asking)
            assert undone[0] != no or after == before
        before = after or everything(asking)
    fresh = fresh_answers(servers, tmp_path, [one for _, one in history])
    assert {name: before[name] for name in fresh} == fresh
    rebuilt_equals_kept(asking, before)


def rebuilt_equals_kept(connection: Connection, kept: dict[str, Any]) -> None:
    with connection.transaction(force_rollback=True):
        items.begin(connection, "SELECT id FROM items")
        items.refresh(connection, 0, "SELECT id FROM items")
        rebuild(connection)
        brands = [row[0] for row in connection.execute("SELECT id FROM brands")]
        items.refresh_brands(connection, brands, brands)
        assert ask(connection, CELLS) == kept["cells to the byte"]
        assert {name: ask(connection, query) for name, query in ANSWERS.items()} == {
            name: kept[name] for name in ANSWERS
        }
