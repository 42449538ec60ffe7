"""What the reports read is always what a rebuild from nothing would make of the observations."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.db import migrate
from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.servers import begins_with
from tests.support.shop import HEADER, MAPPING, ROWS, load_rows
from workers.analytics.rollups import group_figures, layout
from workers.analytics.rollups.arrays import numbered, order_by, sums_by
from workers.analytics.rollups.codec import pack, unpack, unpack_joined
from workers.analytics.rollups.entries import Entries
from workers.analytics.rollups.item_prices import unpacked
from workers.analytics.rollups.refresh import rebuild
from workers.analytics.rollups.sorted_entries import SortedEntries
from workers.ingest.batches import LoadBuffers

STATES = MAPPING.replace('currency = { constant = "HKD" }', 'currency = "currency"')

SALES = STATES.replace('currency = "currency"', 'currency = "currency"\nkind = "sale"\nidentity = "event"')

HEADER_WITH_CURRENCY = HEADER.replace("\n", ",currency\n")

BRANDS = ("Vita", "Maison", "Leaf", "")

KINDS = (("Drinks", "Soy milk"), ("Drinks", "Tea"), ("Desserts", "Custard"), ("Home", ""), ("", ""))


def rollups(settings: Settings) -> list[tuple[Any, ...]]:
    return execute(
        settings,
        "SELECT scope::text, id, month, currency, n, items, units, days, channels, prices, entries, item_ids, "
        "kind::text, list_prices, item_prices, by_channel, by_category FROM month_cells ORDER BY 1, 2, 3, 4, kind",
    )


def marks(settings: Settings) -> list[tuple[Any, ...]]:
    return execute(
        settings,
        "SELECT i.name, o.day, h.code, o.kind::text, o.currency, o.price_minor, o.outlier::text FROM observations o "
        "JOIN items i ON i.id = o.item_id JOIN channels h ON h.id = o.channel_id ORDER BY 1, 2, 3, 4, 5, 6",
    )


def rebuilt(settings: Settings) -> list[tuple[Any, ...]]:
    with connect(settings.database_url, application="tests") as connection:
        rebuild(connection)
    return rollups(settings)


def some_rows(chance: random.Random, count: int) -> str:
    rows = []
    for _ in range(count):
        number = chance.randrange(12)
        # An item seldom moves to another brand or category, but it happens, and its old rollups must let it go.
        home = chance.randrange(20) if chance.random() < 0.08 else number
        group, kind = KINDS[home % len(KINDS)]
        day = f"2026-{chance.choice((5, 6, 6, 7)):02d}-{chance.randint(1, 28):02d}"
        price = chance.choice(("1.50", "2", "2", f"{chance.randint(1, 999)}.25", "9000000000000"))
        currency = chance.choice(("HKD", "HKD", "HKD", "USD"))
        store = chance.choice(("NORTH", "SOUTH", "EAST"))
        listed = chance.choice(("", "", "2", "12.50", "9000000000001"))
        rows.append(
            f"{number},Item {number},{BRANDS[home % len(BRANDS)]},{group},{kind},1,{day},{store},{price},{listed},{currency}\n"
        )
    return "".join(rows)


@pytest.mark.parametrize("seed", range(2))
def test_after_any_loads_the_rollups_equal_a_rebuild(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(group_figures, "ENTRIES_MIN", 3)
    monkeypatch.setattr(group_figures, "ENTRIES_A_GROUP_MIN", 1)
    chance = random.Random(seed)
    for number in range(6):
        text = SALES if chance.random() < 0.5 else STATES
        name = f"{number}.csv"
        with suppress(LoadRefused):  # where the one row of a file has a price that is none
            load_rows(
                settings,
                tmp_path,
                some_rows(chance, chance.choice((1, 5, 80))),
                text=text,
                name=name,
                header=HEADER_WITH_CURRENCY,
            )
        now, marked = rollups(settings), marks(settings)
        assert now == rebuilt(settings)
        assert marked == marks(settings)
    assert {row[0] for row in now} >= {"b", "c", "h", "a"}
    assert any(row[15] for row in now)
    assert {"l", "s"} <= {row[12] for row in now} <= {"l", "s", "L", "S"}


def test_each_item_has_its_geometric_mean_or_the_unit_value_of_its_sales(settings: Settings, tmp_path: Path) -> None:
    chance = random.Random(11)
    for name, text in (("a.csv", STATES), ("b.csv", SALES)):
        load_rows(settings, tmp_path, some_rows(chance, 200), text=text, name=name, header=HEADER_WITH_CURRENCY)
    rows = execute(
        settings,
        "SELECT CASE WHEN o.outlier IS NULL THEN o.kind::text ELSE upper(o.kind::text) END, date_trunc('month', o.day)::date, o.currency, i.category_id, o.item_id, o.channel_id, "
        "CASE o.kind WHEN 's' THEN sum(o.price_minor * o.units)::float8 / sum(o.units) "
        "ELSE exp(avg(ln(o.price_minor))) END, CASE o.kind WHEN 's' THEN sum(o.units) ELSE 0 END "
        "FROM observations o JOIN items i ON i.id = o.item_id GROUP BY 1, 2, 3, 4, 5, 6, o.kind",
    )
    expected = {
        (kind, month, currency, category or 0, item, channel): (p, units)
        for kind, month, currency, category, item, channel, p, units in rows
    }
    found = {}
    for row in rollups(settings):
        if row[0] == "c":
            prices = unpacked(row[14])
            for item, channel, price, units in zip(*(column.tolist() for column in prices), strict=True):
                found[row[12], row[2], row[3], row[1], item, channel] = (price, units)
    assert found.keys() == expected.keys()
    for key, (price, units) in expected.items():
        assert found[key] == (pytest.approx(float(price), rel=1e-12), units)


@begins_with(load_rows)
def test_a_rollup_counts_its_observations(settings: Settings) -> None:
    [everything] = [row for row in rollups(settings) if row[0] == "a"]
    assert (everything[4], everything[5], everything[6]) == (5, 3, 5)
    prices, times = unpack(everything[9])
    assert dict(zip(prices.tolist(), times.tolist(), strict=True)) == {850: 1, 900: 1, 1090: 1, 1150: 1, 2500: 1}
    assert unpack(everything[7])[0].tolist()[:3] == [3, 2, 0]
    assert [column.tolist() for column in unpack(everything[13])] == [[1090, 1150], [1200, 1200], [1, 1]]


def test_list_prices_decide_the_order_of_rows_that_are_otherwise_alike() -> None:
    entries = Entries(*(np.array([1, 1, 1]) for _ in range(5)), np.array([3, 0, 2]), *(np.array([7, 7, 7]),) * 2)
    assert SortedEntries(entries).entries.list_price.tolist() == [0, 2, 3]


@begins_with(load_rows)
def test_rollups_of_another_layout_are_derived_anew_by_the_next_load(settings: Settings, tmp_path: Path) -> None:
    with connect(settings.database_url, application="tests") as connection:
        before = rollups(settings)
        connection.execute("DELETE FROM month_cells")
        connection.execute("DELETE FROM derived_layouts")
        connection.commit()
        assert not layout.is_current(connection)
    load_rows(settings, tmp_path, "4,Tea,Leaf,Drinks,Tea,1,2026-09-01,NORTH,5,\n", name="b.csv")
    after = rollups(settings)
    assert {row for row in before if row[0] == "b"} < set(after)
    assert after == rebuilt(settings)
    with connect(settings.database_url, application="tests") as connection:
        assert layout.is_current(connection)


@begins_with(load_rows)
def test_a_load_leaves_the_rollups_that_it_does_not_touch(settings: Settings, tmp_path: Path) -> None:
    query = "SELECT scope::text, id, month, xmin::text FROM month_cells"
    before = set(execute(settings, query))
    load_rows(
        settings, tmp_path, ROWS + "2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-09,NORTH,25,\n", name="b.csv"
    )
    stayed = before & set(execute(settings, query))
    # Of brand Vita and of its categories nothing was written; what holds the custard was.
    assert sorted(row[0] for row in stayed) == ["b", "c", "h", "t", "t"]


def test_a_load_by_old_code_makes_the_new_rollups_outdated(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = migrate.available()
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.commit()
        monkeypatch.setattr(migrate, "available", lambda: [step for step in steps if step.number < 14])
        migrate.migrate(connection)
        monkeypatch.setattr(migrate, "available", lambda: steps)
        migrate.migrate(connection, contract=False)
        assert layout.is_current(connection)  # an index without data has nothing to derive
        connection.execute(
            "INSERT INTO cells (scope, id, month, currency, n, items, units, days, channels) "
            "VALUES ('a', 0, '2026-07-01', 'HKD', 1, 1, 1, '', '')"
        )
        assert not layout.is_current(connection)
        connection.commit()
        migrate.migrate(connection)
        assert connection.execute(
            "SELECT to_regclass('cells'), to_regproc('forget_month_cells_layout')"
        ).fetchone() == (None, None)


def test_packed_columns_come_back_and_are_as_narrow_as_can_be() -> None:
    small, large = np.array([0, 255]), np.array([1, 2**50])
    packed = pack(small, large)
    assert len(packed) == 3 + 2 * 1 + 2 * 8
    assert [column.tolist() for column in unpack(packed)] == [[0, 255], [1, 2**50]]
    assert unpack(pack(small[:0]))[0].tolist() == []
    zeros = np.array([0, 0, 0])
    assert [len(pack(zeros)), len(pack(zeros, zeros))] == [2 + 3, 3 + 3]
    assert [column.tolist() for column in unpack(pack(zeros, zeros))] == [[0, 0, 0]] * 2


def test_columns_of_several_are_joined_whatever_their_widths() -> None:
    prices = [np.array(values) for values in ([1, 255], [], [256], [0, 2**40])]
    for times in ([np.full(len(one), 3) for one in prices], [np.zeros(len(one), "i8") for one in prices]):
        packed = [pack(*columns) for columns in zip(prices, times, prices, strict=True)]
        rows, (price, n) = unpack_joined(packed, 2)
        assert (rows, price.tolist()) == ([2, 0, 1, 2], [1, 255, 256, 0, 2**40])
        assert n.tolist() == np.concatenate(times).tolist()
        assert unpack_joined(packed[:1], 3)[1][2].tolist() == [1, 255]


def test_sorting_by_wide_keys_equals_sorting_by_narrow_ones() -> None:
    random_numbers = np.random.default_rng(1)
    group, price = random_numbers.integers(0, 50, 999), random_numbers.integers(0, 90, 999)
    exact = np.lexsort((price, group))
    for order in (order_by(group, price), order_by(group, price, nearly=True)):
        assert (group[order] == group[exact]).all()
        assert (price[order] == price[exact]).all()
    wide = [column.tolist() for column in sums_by((group, price * 2**56), None)]
    narrow = [column.tolist() for column in sums_by((group, price), None)]
    assert (wide[0], wide[2]) == (narrow[0], narrow[2])
    assert [p * 2**56 for p in narrow[1]] == wide[1]


@pytest.mark.parametrize("factor", [1, 10**6])
def test_values_are_numbered_by_a_table_or_by_sorting(factor: int) -> None:
    values = np.array([7, 0, 3, 7, 3]) * factor
    distinct, place = numbered(values)
    assert distinct.tolist() == [0, 3 * factor, 7 * factor]
    assert (distinct[place] == values).all()


def test_counts_add_up_however_they_are_sorted() -> None:
    random_numbers = np.random.default_rng(2)
    group, price = random_numbers.integers(0, 9, 999), random_numbers.integers(0, 9, 999)
    once = [column.tolist() for column in sums_by((group, price), None)]
    assert sum(once[2]) == 999
    for factor in (1, 2**58, -1):  # by one integer, too wide for one, with what is taken out
        group_of, price_of, times = sums_by((group, price), np.full(999, factor))
        assert [group_of.tolist(), price_of.tolist(), (times // factor).tolist()] == once


SALES_NEW_MONTHS = MAPPING.replace(
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
@pytest.mark.parametrize("text", [MAPPING, SALES_NEW_MONTHS], ids=["states", "events"])
def test_many_runs_of_a_month_derive_what_a_rebuild_does(
    settings: Settings, tmp_path: Path, text: str, *, in_order: bool
) -> None:
    chance = random.Random(in_order)
    summary = load_rows(settings, tmp_path, _rows(chance, 300, in_order=in_order), text=text, buffers=SMALL)
    counts = summary.counts
    assert counts["observations_new"] + counts["observations_superseded"] == 300
    # 6 items × 12 days × 2 channels: of states at most so many stay, and each was stated several times; of events all.
    assert (counts["observations_new"] == 300) is (text == SALES_NEW_MONTHS)
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
    monkeypatch.setattr("workers.analytics.rollups.arrays._BITS_MAX", None)  # whatever goes wrong in the thread
    with pytest.raises(TypeError):
        load_rows(settings, tmp_path)
    with connect(settings.database_url, application="tests") as connection:
        for table in ("month_cells", "items", "observations", "data_versions"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert connection.execute("SELECT state, error FROM loads").fetchone() == ("failed", "TypeError")
