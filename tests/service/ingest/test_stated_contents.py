"""What items hold is kept beside them as they are written, follows every change, and is never of another rule."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.units.names import CONTENTS_RULE
from tests.service.ingest.test_values import put
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import undone
from workers.analytics import stated_contents
from workers.provenance import standing

MAPPING = """
source = "shop"
title = "S"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
[item.attributes]
net_content = "net"
"""
HEADER = "id,name,net\n"
ROWS = f"""SELECT i.name, c.place, c.per, c.numerator, c.denominator FROM items i
LEFT JOIN stated_contents c ON c.item_id = i.id AND c.rule = {CONTENTS_RULE} ORDER BY 1, 2"""
FORGOTTEN = [
    "DELETE FROM stated_contents",  # loaded by code without these rows
    "UPDATE stated_contents SET rule = 0, numerator = 7",  # read by another version of the rule
]


def put_items(settings: Settings, folder: Path, rows: str) -> None:
    put(settings, folder, MAPPING, HEADER + rows)


def loaded(settings: Settings, folder: Path) -> None:
    put_items(settings, folder, "1,Cola 330ml x 6,\n2,Rice,2kg\n3,Lamp,\n")


KEPT = [
    ("Cola 330ml x 6", 0, "l", 99, 50),
    ("Cola 330ml x 6", 1, "piece", 6, 1),
    ("Lamp", 0, None, None, None),
    ("Rice", 0, "kg", 2, 1),
]


def litres(settings: Settings) -> dict[str, Fraction]:
    """Return how many litres each item holds, as a report reads it."""
    with connect(settings.worker_database_url, application="tests") as connection:
        rows = connection.execute("SELECT id, name FROM items ORDER BY id").fetchall()
        held = stated_contents.read_contents(connection, np.array([row[0] for row in rows], "i8"), "l")
    terms = zip(held.numerator.tolist(), held.denominator.tolist(), strict=True)
    return {name: Fraction(*term) for (_, name), term in zip(rows, terms, strict=True)}


@begins_with(loaded)
def test_a_load_keeps_what_each_new_item_holds(settings: Settings) -> None:
    assert execute(settings, ROWS) == KEPT
    assert litres(settings) == {"Cola 330ml x 6": Fraction(198, 100), "Rice": 0, "Lamp": 0}


@begins_with(loaded)
def test_a_later_name_and_its_undoing_are_followed(settings: Settings, tmp_path: Path) -> None:
    put_items(settings, tmp_path, "1,Cola 1L,\n2,Rice,500 g\n")
    assert execute(settings, ROWS) == [("Cola 1L", 0, "l", 1, 1), KEPT[2], ("Rice", 0, "kg", 1, 2)]
    undone(settings)
    assert execute(settings, ROWS) == KEPT
    undone(settings)
    assert execute(settings, "SELECT * FROM stated_contents") == []


@begins_with(loaded)
@pytest.mark.parametrize("forget", FORGOTTEN)
def test_what_is_not_kept_is_read_from_the_name_and_kept_before_the_next_load(settings: Settings, forget: str) -> None:
    execute(settings, forget)
    execute(settings, "DELETE FROM contents_derived")
    assert litres(settings)["Cola 330ml x 6"] == Fraction(198, 100)
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
    assert execute(settings, ROWS) == KEPT
    assert execute(settings, "SELECT rule, data_version FROM contents_derived") == [(CONTENTS_RULE, 1)]
    assert execute(settings, "SELECT count(*) FROM stated_contents") == [(len(KEPT),)]


@begins_with(loaded)
def test_a_name_that_other_code_changes_is_not_answered_by_what_was_kept(settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
    execute(settings, "UPDATE items SET name = 'Cola 2L', data_version = 2 WHERE name LIKE 'Cola%'")
    execute(settings, "INSERT INTO data_versions (version) VALUES (2)")
    assert litres(settings)["Cola 2L"] == 2
    assert execute(settings, ROWS)[0] == ("Cola 2L", None, None, None, None)
    with connect(settings.database_url, application="tests") as connection:
        standing.lock(connection)
    assert execute(settings, ROWS)[0] == ("Cola 2L", 0, "l", 2, 1)


@begins_with(loaded)
def test_an_interrupted_reading_of_all_goes_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    execute(settings, FORGOTTEN[1])
    monkeypatch.setattr(stated_contents, "AT_ONCE", 1)
    with connect(settings.database_url, application="tests") as connection:
        first = iter([True, False])
        monkeypatch.setattr(connection, "commit", lambda: next(first) or _fail())
        with pytest.raises(InterruptedError):
            stated_contents.ensure(connection)
        connection.rollback()
        monkeypatch.undo()
        stated_contents.ensure(connection)
    assert execute(settings, ROWS) == KEPT


def _fail() -> None:
    raise InterruptedError
