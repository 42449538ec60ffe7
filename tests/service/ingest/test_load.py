"""A load changes everything it should, or nothing at all."""

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.contents import state
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import HEADER, MAPPING, ROWS, load_rows, mapping
from workers.ingest.batches import LoadBuffers
from workers.ingest.load.load import load

SALES = MAPPING.replace(
    'currency = { constant = "HKD" }', 'currency = { constant = "HKD" }\nkind = "sale"\nidentity = "event"'
)

# A load of its own that hangs when it has read a part of its file and sent most of that to the server.
HANGING = """
import sys, time
from pathlib import Path
from shared.settings.settings import Settings
from workers.ingest.batches import LoadBuffers
from workers.ingest.load.load import load
from workers.ingest.mapping import read
small = LoadBuffers(block_bytes=700, kept_bytes=1_500, chunk_rows=5)
def hang(done):
    if done > 80_000:  # the form is recognized by the first 64 KiB, which are read at once
        time.sleep(600)
load(Settings.from_environment(), read(Path(sys.argv[1])), [Path(sys.argv[2])], hang, buffers=small)
"""


def test_the_rows_of_a_file_are_in_the_index(settings: Settings, tmp_path: Path) -> None:
    summary = load_rows(settings, tmp_path)
    assert (summary.state, summary.data_version) == ("committed", 1)
    assert summary.counts["items_new"] == 3
    assert summary.counts["observations_new"] == 5
    key = mint("shop", "1").key
    rows = execute(
        settings,
        "SELECT day::text, price_minor, list_minor, currency FROM observations WHERE item_id = $1 ORDER BY 1, 2",
        key,
    )
    assert rows == [
        ("2026-07-01", 1090, 1200, "HKD"),
        ("2026-07-02", 900, None, "HKD"),
        ("2026-07-02", 1150, 1200, "HKD"),
    ]
    assert execute(settings, "SELECT slug, item_count, channels FROM brands ORDER BY slug") == [
        ("maison", 1, ["NORTH"]),
        ("vita", 2, ["NORTH", "SOUTH"]),
    ]
    assert execute(settings, "SELECT kind, state, data_version FROM jobs") == [("search-index", "queued", 1)]


@begins_with(load_rows)
def test_the_same_file_twice_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    before = state(settings)
    assert load_rows(settings, tmp_path).state == "unchanged"
    assert load_rows(settings, tmp_path, ROWS + "\n", name="other.csv").state == "unchanged"
    assert state(settings) == before


@begins_with(load_rows)
def test_only_what_is_new_gets_a_number(settings: Settings, tmp_path: Path) -> None:
    """Numbers of sources end at 32,767: neither loads of a known one nor those that are rolled back may use them up."""
    named = ("sources", "brands", "categories", "channels")

    def drawn() -> list[object]:
        return [execute(settings, f"SELECT last_value FROM {table}_id_seq") for table in named]

    before = drawn()
    assert before == [execute(settings, f"SELECT count(*) FROM {table}") for table in named]
    path = tmp_path / "shop.csv"
    path.write_text(HEADER + ROWS)
    load(settings, mapping(tmp_path), [path], dry_run=True)
    assert load_rows(settings, tmp_path, f"{ROWS}\n", name="again.csv").state == "unchanged"
    with pytest.raises(LoadRefused):
        load_rows(settings, tmp_path, "9,,Vita,Drinks,Soy milk,1,2026-07-01,NORTH,1,\n", name="refused.csv")
    assert drawn() == before
    other = MAPPING.replace('source = "shop"', 'source = "other"')
    for _ in range(3):
        load(settings, mapping(tmp_path, other), [path], dry_run=True)
    load_rows(settings, tmp_path, text=other)
    assert execute(settings, "SELECT id, name FROM sources ORDER BY id") == [(1, "shop"), (2, "other")]
    assert drawn() == [[(2,)], *before[1:]]


@begins_with(load_rows)
def test_an_overlapping_file_replaces_only_what_differs(settings: Settings, tmp_path: Path) -> None:
    rows = ROWS.replace("10.90", "10.50").replace("2026-07-01,SOUTH,8.5", "2026-08-01,SOUTH,8.5")
    summary = load_rows(settings, tmp_path, rows, name="next.csv")
    assert summary.counts["observations_replaced"] == 1
    assert summary.counts["observations_new"] == 1
    assert summary.counts["observations_same"] == 3
    versions = dict(execute(settings, "SELECT name, version FROM items"))
    assert versions == {"Soy milk 1L": 2, "Crème brûlée": 1, "豆奶 Soy drink": 2}


def test_equal_sales_each_count_and_come_back_the_same(settings: Settings, tmp_path: Path) -> None:
    sale = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"
    load_rows(settings, tmp_path, sale * 3, text=SALES)
    assert execute(settings, "SELECT count(*), count(DISTINCT mark) FROM observations") == [(3, 3)]
    summary = load_rows(settings, tmp_path, sale * 4, text=SALES, name="more.csv")
    assert (summary.counts["observations_new"], summary.counts["observations_same"]) == (1, 3)


def test_equal_sales_of_different_batches_each_count(settings: Settings, tmp_path: Path) -> None:
    sale = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"
    load_rows(settings, tmp_path, sale * 40, text=SALES, buffers=LoadBuffers(block_bytes=500))
    assert execute(settings, "SELECT count(*), count(DISTINCT mark) FROM observations") == [(40, 40)]


def test_a_state_stated_twice_keeps_its_last_value(settings: Settings, tmp_path: Path) -> None:
    rows = ROWS + "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-01,NORTH,26,\n"
    summary = load_rows(settings, tmp_path, rows)
    assert summary.counts["observations_new"] == 5
    assert execute(settings, "SELECT price_minor FROM observations WHERE item_id = $1", mint("shop", "2").key) == [
        (2600,)
    ]


def test_a_killed_load_leaves_nothing_and_the_next_one_says_so(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_text(
        HEADER
        + "".join(
            f"{n},Item {n},Vita,Drinks,Soy milk,1.0,2026-07-{n % 28 + 1:02d},NORTH,10.90,12\n" for n in range(2_000)
        )
    )
    mapping(tmp_path)
    environment = {**os.environ, **settings.environment()}
    process = subprocess.Popen([sys.executable, "-c", HANGING, str(tmp_path / "shop.toml"), str(path)], env=environment)
    busy = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'itemindex-load' AND query LIKE 'COPY%'"
    while process.poll() is None and not execute(settings, busy):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert state(settings) == [[], [], [], [], []]
    load_rows(settings, tmp_path)
    assert [row[0] for row in execute(settings, "SELECT state FROM loads ORDER BY started_at")] == [
        "failed",
        "committed",
    ]
    assert execute(settings, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'observations_2%'") == [(1,)]


@begins_with(load_rows)
def test_derived_data_equals_a_rebuild_from_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path, ROWS.replace("Maison", "Vita").replace("2026-07", "2026-06"), name="b.csv")
    load_rows(settings, tmp_path, "4,Tea,Leaf,Drinks,Tea,,2026-07-09,EAST,3,\n", name="c.csv")
    derived = execute(
        settings, "SELECT slug, item_count, channels, first_seen_on FROM brands WHERE item_count > 0 ORDER BY slug"
    )
    rebuilt = execute(
        settings,
        """
        SELECT b.slug, count(DISTINCT i.id), array_agg(DISTINCT c.code ORDER BY c.code), min(o.day)
        FROM brands b JOIN items i ON i.brand_id = b.id JOIN observations o ON o.item_id = i.id
        JOIN channels c ON c.id = o.channel_id GROUP BY b.slug ORDER BY b.slug""",
    )
    assert derived == rebuilt


@begins_with(load_rows)
def test_factors_are_averaged_by_category_and_touch_its_items(settings: Settings, tmp_path: Path) -> None:
    text = (
        'source = "lab"\ntitle = "L"\nlicense = "CC0-1.0"\n[factors]\nmethod = "mean"\n[factors.code]\ncolumn = "group"\n'
        '[factors.code.crosswalk]\n"Dranken" = "drinks"\n[factors.indicators]\nco2e_kg = "gwp"\n'
        'water_l = { column = "m3", multiply = 1000 }\n'
    )
    path = tmp_path / "factors.csv"
    path.write_text("group,gwp,m3\nDranken,1,0.5\nDranken,2,\nZuivel,9,9\n")
    summary = load(settings, mapping(tmp_path, text), [path])
    assert summary.counts["items_touched"] == 2
    assert summary.rejects == {"belongs to no category of the crosswalk": 1}
    rows = execute(settings, "SELECT code, indicator, per_kg::float, samples FROM impact_factors ORDER BY indicator")
    assert rows == [("drinks", "co2e_kg", 1.5, 2), ("drinks", "water_l", 500.0, 1)]


def _sales(*days: str, price: str = "10.90") -> str:
    return "".join(f"1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,{day},NORTH,{price},12\n" for day in days)


def test_a_month_that_comes_again_after_it_was_passed_is_whole(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(
        _sales(*[day] * 12) for day in ("2026-05-01", "2026-06-01", "2026-05-01", "2026-07-01", "2026-05-01")
    )
    summary = load_rows(settings, tmp_path, rows, text=SALES, buffers=LoadBuffers(block_bytes=700))
    assert summary.counts["observations_new"] == 60
    counted = execute(settings, "SELECT day::text, count(DISTINCT mark) FROM observations GROUP BY day ORDER BY day")
    assert counted == [("2026-05-01", 36), ("2026-06-01", 12), ("2026-07-01", 12)]
    assert load_rows(settings, tmp_path, rows + "\n", text=SALES, name="again.csv").state == "unchanged"


def test_a_passed_month_keeps_the_last_word_of_a_state(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(
        _sales(*[day] * 12, price=price)
        for day, price in (("2026-05-01", "1"), ("2026-06-01", "2"), ("2026-05-01", "3"), ("2026-07-01", "4"))
    )
    summary = load_rows(settings, tmp_path, rows, buffers=LoadBuffers(block_bytes=700))
    assert (summary.counts["observations_new"], summary.counts["observations_superseded"]) == (3, 45)
    assert summary.counts["observations_replaced"] == 0
    assert execute(settings, "SELECT price_minor FROM observations ORDER BY day") == [(300,), (200,), (400,)]


@begins_with(load_rows)
def test_new_months_are_like_any_partition(settings: Settings) -> None:
    defaults = """
        SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = $1::regclass AND a.attnum > 0 ORDER BY a.attnum"""
    of_parent = execute(settings, defaults, "observations")
    assert execute(settings, defaults, "observations_2026_07") == of_parent
    checks = "SELECT conname FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c' ORDER BY 1"
    assert execute(settings, checks, "observations_2026_07") == execute(settings, checks, "observations")
    index = "SELECT indexdef FROM pg_indexes WHERE tablename = 'observations_2026_07'"
    [(definition,)] = execute(settings, index)
    assert "UNIQUE INDEX" in definition
    assert definition.endswith("(item_id, day, mark)")


REJECTED = [
    (",No id,B,G,K,1,2026-07-01,N,1,", "no item id"),
    ("9,,B,G,K,1,2026-07-01,N,1,", "no name"),
    ("9,X,B,G,K,1,2026-02-30,N,1,", "no day"),
    ("9,X,B,G,K,1,01.07.2026,N,1,", "no day"),
    ("9,X,B,G,K,1,1850-07-01,N,1,", "before 1900"),
    ("9,X,B,G,K,1,2026-07-01,,1,", "no channel"),
    ("9,X,B,G,K,1,2026-07-01,N,-1,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,NaN,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,inf,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,1.005,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,1e5,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N,99999999999999,", "not a price"),
    ("9,X,B,G,K,1,2026-07-01,N", "has 8 columns instead of 10"),
    ("9," + "X" * 1001 + ",B,G,K,1,2026-07-01,N,1,", "1,000"),
    ("9,a\0b,B,G,K,1,2026-07-01,N,1,", "NUL"),
]


def test_a_row_that_cannot_be_used_is_kept_with_its_line_and_reason(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(f"{row}\n" for row, _ in REJECTED)
    summary = load_rows(settings, tmp_path, ROWS + rows + ROWS.splitlines()[0] + "\n")
    assert summary.counts["rejected"] == len(REJECTED)
    assert summary.counts["items_new"] == 3
    kept = execute(settings, "SELECT file, line, reason FROM rejects ORDER BY line")
    for line, ((row, reason), reported) in enumerate(zip(REJECTED, kept, strict=True), 7):
        assert reported[:2] == ("shop.csv", line)
        assert reason in reported[2], row


@begins_with(load_rows)
def test_a_broken_file_changes_nothing_and_says_why(settings: Settings, tmp_path: Path) -> None:
    before = state(settings)
    for name, content, word in (
        ("empty.csv", b"", "empty"),
        ("cut.csv.gz", gzip.compress((HEADER + ROWS * 50).encode())[:-40], "broken"),
        ("other.csv", b"a,b\n1,2\n", "sku"),
        ("noise.csv.gz", b"\x1f\x8b" + os.urandom(200), "broken"),
        ("noise.parquet", b"PAR1" + os.urandom(100), "broken"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(LoadRefused, match=word):
            load(settings, mapping(tmp_path), [path])
        assert state(settings) == before, name
        assert execute(settings, "SELECT state FROM loads ORDER BY started_at DESC LIMIT 1") == [("failed",)], name


def test_an_item_that_moves_to_another_brand_costs_its_own_observations_and_not_all(
    settings: Settings, tmp_path: Path
) -> None:
    items = range(1, 2_001)
    june = "".join(
        f"{n},Thing {n},Vita,Drinks,Tea,1,2026-06-{day:02d},NORTH,{n},\n" for n in items[:-1] for day in range(1, 13)
    )
    may = f"{items[-1]},Thing,Vita,Drinks,Tea,1,2026-05-01,NORTH,9,\n"
    load_rows(settings, tmp_path, may + june)
    before = scanned(settings, "observations_2026_06", once_written="observations_2026_06")
    brands = ["Vita"] * (len(items) - 1) + ["Alco"]
    july = (f"{n},Thing,{brand},Drinks,Tea,1,2026-07-01,NORTH,9,\n" for n, brand in zip(items, brands, strict=True))
    load_rows(settings, tmp_path, "".join(july), name="july.csv")
    assert scanned(settings, "observations_2026_06", once_written="observations_2026_07") == before


def scanned(settings: Settings, table: str, *, once_written: str) -> int:
    """Return how many rows of a month have been read by scans of all of it.

    The server counts what a load has read and written when the load's connection ends.
    """
    ends = time.monotonic() + 60
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        while time.monotonic() < ends:
            query = "SELECT relname, n_tup_ins, seq_tup_read FROM pg_stat_user_tables"
            counted = {row[0]: row[1:] for row in connection.execute(query)}
            if counted.get(once_written, (0, 0))[0]:
                return int(counted[table][1])
            time.sleep(0.02)
    raise AssertionError(f"{once_written} was not written")
