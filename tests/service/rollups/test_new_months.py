"""New months are derived from what the load wrote: in any order of the rows, that is what the table holds."""

import random
from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.rollups.test_rollups import rebuilt, rollups
from tests.support.shop import MAPPING, load_rows
from workers.ingest.batches import LoadBuffers

SALES = MAPPING.replace(
    'currency = { constant = "HKD" }', 'currency = { constant = "HKD" }\nkind = "sale"\nidentity = "event"'
)


# Some ten rows a batch, some thirty a run, pieces of five.
SMALL = LoadBuffers(block_bytes=700, kept_bytes=1_500, chunk_rows=5)


def _rows(chance: random.Random, count: int, *, in_order: bool) -> str:
    rows = []
    for _ in range(count):
        number = chance.randrange(6)
        day = f"2026-{chance.choice((4, 5, 6, 7)):02d}-{chance.randint(1, 3):02d}"
        listed = chance.choice(("", "30"))  # rows without a list price are written apart from those with one
        rows.append((day, number, chance.choice(("NORTH", "SOUTH")), chance.choice(("1.50", "2", "7.25")), listed))
    if in_order:
        rows.sort(key=lambda row: row[0])
    return "".join(
        f"{number},Item {number},Brand {number % 3},Group,Kind {number % 2},1,{day},{store},{price},{listed}\n"
        for day, number, store, price, listed in rows
    )


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("text", [MAPPING, SALES])
def test_many_runs_of_a_month_derive_what_a_rebuild_does(
    settings: Settings, tmp_path: Path, text: str, *, in_order: bool
) -> None:
    chance = random.Random(in_order)
    summary = load_rows(settings, tmp_path, _rows(chance, 600, in_order=in_order), text=text, buffers=SMALL)
    counts = summary.counts
    assert counts["observations_new"] + counts["observations_superseded"] == 600
    # 6 items × 12 days × 2 channels: of states at most so many stay, and each was stated several times; of events all.
    assert (counts["observations_new"] == 600) is (text == SALES)
    now = rollups(settings)
    assert sum(row[4] for row in now if row[0] == "a") == counts["observations_new"]
    assert now == rebuilt(settings)


def test_old_and_new_months_of_one_load_are_derived_both(settings: Settings, tmp_path: Path) -> None:
    chance = random.Random(1)
    load_rows(
        settings, tmp_path, _rows(chance, 60, in_order=True).replace("2026-07", "2026-06"), name="a.csv", buffers=SMALL
    )
    # Items move to other brands too: their old months are derived anew, the new month is taken as it was written.
    moved = _rows(chance, 200, in_order=False).replace("Brand 1", "Brand 4")
    load_rows(settings, tmp_path, moved, name="b.csv", buffers=SMALL)
    now = rollups(settings)
    assert {str(row[2]) for row in now} == {"2026-04-01", "2026-05-01", "2026-06-01", "2026-07-01"}
    assert now == rebuilt(settings)


def test_a_load_whose_rollups_cannot_be_made_leaves_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.analytics.rollups.codec._BITS_MAX", None)  # whatever goes wrong in the thread
    with pytest.raises(TypeError):
        load_rows(settings, tmp_path)
    with connect(settings.database_url, application="tests") as connection:
        for table in ("month_cells", "items", "observations", "data_versions"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert connection.execute("SELECT state, error FROM loads").fetchone() == ("failed", "TypeError")
