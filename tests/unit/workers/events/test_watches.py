"""Newest prices and days of watched articles, compared with a twin that reads the rows one by one."""

from datetime import date, timedelta
from random import Random

import numpy as np

from shared.analytics.observations import ObservationKind
from workers.analytics.rollups.entries import Entries, Stratum
from workers.analytics.rollups.items import Items
from workers.events.watched_months import LAYOUT, NEVER, Watched, WatchedMonths

EPOCH = date(2000, 1, 1)

MONTHS_TOUCHED = (date(2025, 12, 1), date(2026, 1, 1), date(2026, 3, 1))

STRATA = (
    Stratum("HKD", ObservationKind.LISTING),
    Stratum("USD", ObservationKind.LISTING),
    Stratum("HKD", ObservationKind.LISTING_OUTLIER),
    Stratum("HKD", ObservationKind.SALE),
)

Row_touched = tuple[int, date, int]


def entries(month: date, rows: list[Row_touched]) -> Entries:
    item, day, price = (
        np.array(column, "i8") for column in zip(*((i, (d - month).days + 1, p) for i, d, p in rows), strict=True)
    )
    zeros = np.zeros(len(item), "i8")
    return Entries(item, day, zeros, price, zeros, zeros, zeros, zeros)


def drawn(random: Random) -> dict[date, dict[Stratum, list[Row_touched]]]:
    """Draw rows of ten items: mostly in their order, as loads bring them, sometimes not."""
    months: dict[date, dict[Stratum, list[Row_touched]]] = {}
    for month in MONTHS_TOUCHED:
        for stratum in random.sample(STRATA, random.randint(1, len(STRATA))):
            count = random.randint(1, 40)
            rows = [
                (random.randrange(10), month + timedelta(random.randrange(31)), random.randint(0, 20))
                for _ in range(count)
            ]
            months.setdefault(month, {})[stratum] = sorted(rows) if random.random() < 0.5 else rows
    return months


def newest(months: dict[date, dict[Stratum, list[Row_touched]]], watched: Watched) -> set[tuple[object, ...]]:
    found = set()
    for stratum in (stratum for stratum in STRATA if stratum.kind in "ls"):
        for owner, priced in zip(watched.owner.tolist(), watched.priced.tolist(), strict=True):
            of_item = [row[1:] for rows in months.values() for row in rows.get(stratum, ()) if row[0] == owner]
            if not priced or not of_item:
                continue
            last = max(day for day, _ in of_item)
            month = [(day, price) for day, price in of_item if day.replace(day=1) == last.replace(day=1)]
            before = min((price for day, price in month if day < last), default=-1)
            low = min(price for day, price in month if day == last)
            found.add((owner, stratum.kind, stratum.currency, last, low, before, min(month)[0]))
    return found


def absences(months: dict[date, dict[Stratum, list[Row_touched]]], watched: Watched) -> set[tuple[object, ...]]:
    found = set()
    for kind in "ls":
        for owner, absent in zip(watched.owner.tolist(), watched.absent.tolist(), strict=True):
            days = {
                day
                for by_stratum in months.values()
                for stratum, rows in by_stratum.items()
                for item, day, _ in rows
                if item == owner and stratum.kind.lower() == kind
            }
            if absent == NEVER:
                continue
            ordered = sorted(days)
            for before, day in zip([None, *ordered], ordered, strict=False):
                if before is None or (day - before).days > absent:
                    found.add((owner, kind, day, 0 if before is None else (day - before).days))
    return found


def _day(number: int) -> date:
    return EPOCH + timedelta(days=int(number))


def test_newest_prices_and_absences_are_those_of_a_twin() -> None:
    for seed in range(40):
        random = Random(seed)
        owners = sorted(random.sample(range(10), random.randint(1, 9)))
        absent = [random.choice([1, 5, 30, NEVER]) for _ in owners]
        priced = [random.random() < 0.6 for _ in owners]
        watched = Watched(np.array(owners, "i8"), np.array(priced), np.array(absent, "i8"))
        months = drawn(random)
        observed = WatchedMonths(watched, any_active=True)
        for month in random.sample(MONTHS_TOUCHED, len(MONTHS_TOUCHED)):
            observed.observe(month, {stratum: entries(month, rows) for stratum, rows in months.get(month, {}).items()})
        latest = [
            (
                int(r["owner"]),
                r["kind"].decode(),
                r["currency"].decode(),
                _day(r["day"]),
                int(r["low"]),
                int(r["before"]),
                _day(r["first"]),
            )
            for rows in observed.latest()
            for r in rows
        ]
        days = [
            (int(r["owner"]), r["kind"].decode(), _day(r["day"]), int(r["absence"]))
            for rows in observed.days()
            for r in rows
        ]
        assert len(latest) == len(set(latest)) and set(latest) == newest(months, watched), seed
        assert len(days) == len(set(days)) and set(days) == absences(months, watched), seed
        assert observed.months == set(MONTHS_TOUCHED), seed


def test_articles_are_watched_by_themselves_by_what_was_merged_into_them_by_brand_and_by_category() -> None:
    columns = {
        "item": [1, 2, 3, 4, 5],
        "owner": [1, 1, 3, 4, -1],
        "brand": [7, 7, 8, 8, 8],
        "category": [20, 20, 21, 22, 22],
    }
    items = Items(*(np.array(columns.get(name.removeprefix("old_"), [])) for name in Items._fields))
    rows = LAYOUT.blank(5)
    said = [(b"a", 2, 0), (b"a", 2, 40), (b"b", 8, 30), (b"c", 22, 10), (b"a", 99, 0)]
    rows["scope"], rows["id"], rows["absent"] = zip(*said, strict=True)
    watched = Watched.among(items, rows)
    assert [column.tolist() for column in watched] == [[1, 3, 4], [True, False, False], [40, 30, 10]]
    assert [len(column) for column in Watched.among(items, LAYOUT.blank(0))] == [0, 0, 0]
