"""A load changes everything it should, or nothing at all."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.contents import ask, state
from tests.support.shop import HEADER, MAPPING, ROWS, load_rows, mapping
from workers.ingest.batches import LoadBuffers
from workers.ingest.load import load

SALES = MAPPING.replace(
    'currency = { constant = "HKD" }', 'currency = { constant = "HKD" }\nkind = "sale"\nidentity = "event"'
)


# A load of its own that hangs when it has read a part of its file and sent most of that to the server.
HANGING = """
import sys, time
from pathlib import Path
from shared.settings.settings import Settings
from workers.ingest.batches import LoadBuffers
from workers.ingest.load import load
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
    rows = ask(
        settings,
        "SELECT day::text, price_minor, list_minor, currency FROM observations WHERE item_id = $1 ORDER BY 1, 2",
        key,
    )
    assert rows == [
        ("2026-07-01", 1090, 1200, "HKD"),
        ("2026-07-02", 900, None, "HKD"),
        ("2026-07-02", 1150, 1200, "HKD"),
    ]
    assert ask(settings, "SELECT slug, item_count, channels FROM brands ORDER BY slug") == [
        ("maison", 1, ["NORTH"]),
        ("vita", 2, ["NORTH", "SOUTH"]),
    ]
    assert ask(settings, "SELECT kind, state, data_version FROM jobs") == [("search-index", "queued", 1)]


def test_the_same_file_twice_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    before = state(settings)
    assert load_rows(settings, tmp_path).state == "unchanged"
    assert load_rows(settings, tmp_path, ROWS + "\n", name="other.csv").state == "unchanged"
    assert state(settings) == before


def test_an_overlapping_file_replaces_only_what_differs(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    rows = ROWS.replace("10.90", "10.50").replace("2026-07-01,SOUTH,8.5", "2026-08-01,SOUTH,8.5")
    summary = load_rows(settings, tmp_path, rows, name="next.csv")
    assert summary.counts["observations_replaced"] == 1
    assert summary.counts["observations_new"] == 1
    assert summary.counts["observations_same"] == 3
    versions = dict(ask(settings, "SELECT name, version FROM items"))
    assert versions == {"Soy milk 1L": 2, "Crème brûlée": 1, "豆奶 Soy drink": 2}


def test_equal_sales_each_count_and_come_back_the_same(settings: Settings, tmp_path: Path) -> None:
    sale = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"
    load_rows(settings, tmp_path, sale * 3, text=SALES)
    assert ask(settings, "SELECT count(*), count(DISTINCT mark) FROM observations") == [(3, 3)]
    summary = load_rows(settings, tmp_path, sale * 4, text=SALES, name="more.csv")
    assert (summary.counts["observations_new"], summary.counts["observations_same"]) == (1, 3)


def test_equal_sales_of_different_batches_each_count(settings: Settings, tmp_path: Path) -> None:
    sale = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-01,NORTH,10.90,12\n"
    load_rows(settings, tmp_path, sale * 40, text=SALES, buffers=LoadBuffers(block_bytes=500))
    assert ask(settings, "SELECT count(*), count(DISTINCT mark) FROM observations") == [(40, 40)]


def test_a_state_stated_twice_keeps_its_last_value(settings: Settings, tmp_path: Path) -> None:
    rows = ROWS + "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-01,NORTH,26,\n"
    summary = load_rows(settings, tmp_path, rows)
    assert summary.counts["observations_new"] == 5
    assert ask(settings, "SELECT price_minor FROM observations WHERE item_id = $1", mint("shop", "2").key) == [(2600,)]


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
    while process.poll() is None and not ask(settings, busy):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert state(settings) == [[], [], [], [], []]
    load_rows(settings, tmp_path)
    assert [row[0] for row in ask(settings, "SELECT state FROM loads ORDER BY started_at")] == ["failed", "committed"]
    assert ask(settings, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'observations_2%'") == [(1,)]


def test_derived_data_equals_a_rebuild_from_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    load_rows(settings, tmp_path, ROWS.replace("Maison", "Vita").replace("2026-07", "2026-06"), name="b.csv")
    load_rows(settings, tmp_path, "4,Tea,Leaf,Drinks,Tea,,2026-07-09,EAST,3,\n", name="c.csv")
    derived = ask(
        settings, "SELECT slug, item_count, channels, first_seen_on FROM brands WHERE item_count > 0 ORDER BY slug"
    )
    rebuilt = ask(
        settings,
        """
        SELECT b.slug, count(DISTINCT i.id), array_agg(DISTINCT c.code ORDER BY c.code), min(o.day)
        FROM brands b JOIN items i ON i.brand_id = b.id JOIN observations o ON o.item_id = i.id
        JOIN channels c ON c.id = o.channel_id GROUP BY b.slug ORDER BY b.slug""",
    )
    assert derived == rebuilt


def test_factors_are_averaged_by_category_and_touch_its_items(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
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
    rows = ask(settings, "SELECT code, indicator, per_kg::float, samples FROM impact_factors ORDER BY indicator")
    assert rows == [("drinks", "co2e_kg", 1.5, 2), ("drinks", "water_l", 500.0, 1)]


def _sales(*days: str, price: str = "10.90") -> str:
    return "".join(f"1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,{day},NORTH,{price},12\n" for day in days)


def test_a_month_that_comes_again_after_it_was_passed_is_whole(settings: Settings, tmp_path: Path) -> None:
    rows = "".join(
        _sales(*[day] * 12) for day in ("2026-05-01", "2026-06-01", "2026-05-01", "2026-07-01", "2026-05-01")
    )
    summary = load_rows(settings, tmp_path, rows, text=SALES, buffers=LoadBuffers(block_bytes=700))
    assert summary.counts["observations_new"] == 60
    counted = ask(settings, "SELECT day::text, count(DISTINCT mark) FROM observations GROUP BY day ORDER BY day")
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
    assert ask(settings, "SELECT price_minor FROM observations ORDER BY day") == [(300,), (200,), (400,)]


def test_new_months_are_like_any_partition(settings: Settings, tmp_path: Path) -> None:
    load_rows(settings, tmp_path)
    defaults = """
        SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = $1::regclass AND a.attnum > 0 ORDER BY a.attnum"""
    of_parent = ask(settings, defaults, "observations")
    assert ask(settings, defaults, "observations_2026_07") == of_parent
    checks = "SELECT conname FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c' ORDER BY 1"
    assert ask(settings, checks, "observations_2026_07") == ask(settings, checks, "observations")
    index = "SELECT indexdef FROM pg_indexes WHERE tablename = 'observations_2026_07'"
    [(definition,)] = ask(settings, index)
    assert "UNIQUE INDEX" in definition
    assert definition.endswith("(item_id, day, mark)")
