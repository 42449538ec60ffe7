"""Random loads beside a twin that follows the meaning of watches day by day, without SQL, months or candidates."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.accounts import organization
from tests.support.shop import load_rows

FIRST = date(2026, 1, 1)

DAYS = 200

LOADS = 14

SEED = 9  # its loads fill in older days with high prices between two low ones

SKUS = tuple("ABCDEF")

CONDITIONS = [
    *(("below", amount, None) for amount in (850, 1000)),
    *(("new-low", None, days) for days in (30, 90)),
    *(("returned", None, days) for days in (5, 25, 30, 45)),
]

Fired = tuple[str, str, int | None, int | None, str, str | None]

"""SKU, condition, amount, days, day, price."""


@dataclass
class Memory:
    """What a watch reported last."""

    day: date
    price: int | None
    armed: bool = False


class Twin:
    """The observations so far, and what each watch reported last."""

    def __init__(self) -> None:
        self.prices: dict[str, dict[date, list[int]]] = {sku: {} for sku in SKUS}
        self.memory: dict[tuple[str, str, int | None, int | None], Memory] = {}

    def load(self, rows: list[tuple[str, date, int]]) -> list[Fired]:
        """Add rows and return what their load reports."""
        before = {sku: set(days) for sku, days in self.prices.items()}
        for sku, day, price in rows:
            self.prices[sku].setdefault(day, []).append(price)
        fired = []
        for sku in {row[0] for row in rows}:
            loaded = {day for other, day, _ in rows if other == sku}
            for condition, amount, days in CONDITIONS:
                if condition == "returned":
                    found = self._returned(sku, days or 0, before[sku], loaded)
                else:
                    found = self._priced(sku, condition, amount, days, loaded)
                if found is not None:
                    self.memory[sku, condition, amount, days] = Memory(*found)
                    price = None if found[1] is None else f"{found[1] // 100}.{found[1] % 100:02}"
                    fired.append((sku, condition, amount, days, found[0].isoformat(), price))
        return fired

    def _priced(
        self, sku: str, condition: str, amount: int | None, days: int | None, loaded: set[date]
    ) -> tuple[date, int] | None:
        newest = max(self.prices[sku])
        if newest.replace(day=1) not in {day.replace(day=1) for day in loaded}:
            return None
        low = min(self.prices[sku][newest])
        last = self.memory.get((sku, condition, amount, days))
        if last is not None and condition == "below" and amount is not None and 100 * low >= 102 * amount:
            last.armed = True
        if last is not None and (last.day, last.price) == (newest, low):
            return None
        if amount is not None:
            return (newest, low) if low < amount and (last is None or last.armed) else None
        since = newest - timedelta(days or 0)
        inside = [price for day, all_ in self.prices[sku].items() if since <= day < newest for price in all_]
        if min(self.prices[sku]) > since or not inside or low >= min(inside):
            return None
        again = last is None or newest - last.day > timedelta(days or 0) or 100 * low <= 98 * (last.price or 0)
        return (newest, low) if again else None

    def _returned(self, sku: str, days: int, before: set[date], loaded: set[date]) -> tuple[date, None] | None:
        last = self.memory.get((sku, "returned", None, days))
        every = sorted(self.prices[sku])
        for day in sorted(loaded - before, reverse=True):
            earlier = [one for one in every if one < day]
            later_known = any(one > day for one in before)
            if earlier and day - earlier[-1] > timedelta(days) and not later_known:
                return (day, None) if last is None or last.day < day else None
        return None


def drawn(random: Random, last: date) -> list[tuple[str, date, int]]:
    """Draw the rows of a load: mostly days around `last`, some older ones; no day of an article twice."""
    rows = {}
    for sku in random.sample(SKUS, random.randint(2, len(SKUS))):
        for _ in range(random.choice([1, 1, 2, 4])):
            back = random.choice([0, 1, 2, 3, 5, 8, 20, 40, 100])
            rows[sku, last - timedelta(min(back, (last - FIRST).days))] = random.randint(780, 1400)
    return [(sku, day, price) for (sku, day), price in rows.items()]


def watch_all(settings: Settings) -> None:
    """Watch every article in every way."""
    owner = organization(settings)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("DELETE FROM watches")
        connection.execute(
            """
            INSERT INTO watches (organization_id, target, code, condition, kind, currency, amount_minor, days)
            SELECT $1::uuid, 'article', i.iid, c.condition, 'l', CASE WHEN c.condition <> 'returned' THEN 'HKD' END, c.amount, c.days
            FROM unnest($2::text[], $3::bigint[], $4::integer[]) c (condition, amount, days), items i
            JOIN item_sources s ON s.item_id = i.id WHERE s.source_item_id = ANY ($5::text[])
            """,
            (owner, *(list(column) for column in zip(*CONDITIONS, strict=True)), list(SKUS)),
        )


def events(settings: Settings) -> Counter[Fired]:
    """Return what has been reported."""
    with connect(settings.database_url, application="tests") as connection:
        rows = connection.execute(
            """
            SELECT s.source_item_id, e.data ->> 'condition', w.amount_minor, w.days, e.data ->> 'day', e.data ->> 'price'
            FROM event_log e JOIN watches w ON w.id = (e.data ->> 'watch')::uuid
            JOIN items i ON i.iid = w.code JOIN item_sources s ON s.item_id = i.id
            WHERE e.type = 'watch.fired'
            """
        ).fetchall()
    return Counter((str(row[0]), str(row[1]), row[2], row[3], str(row[4]), row[5]) for row in rows)


def _line(sku: str, day: date, price: int, store: int) -> str:
    return f"{sku},Article {sku * 5},Vita,Drinks,Soy milk,1.0,{day},S{store},{price / 100:.2f},\n"


def test_loads_report_what_a_twin_finds_day_by_day(settings: Settings, tmp_path: Path) -> None:
    random, twin, reported = Random(SEED), Twin(), Counter[Fired]()
    first = [(sku, FIRST, 1000) for sku in SKUS]
    twin.load(first)
    twin.memory.clear()  # the watches are made behind the first load
    load_rows(settings, tmp_path, "".join(_line(*row, 0) for row in first))
    watch_all(settings)
    for number in range(1, LOADS + 1):
        rows = drawn(random, FIRST + timedelta(DAYS * number // LOADS - random.randint(0, 10)))
        expected = twin.load(rows)
        load_rows(settings, tmp_path, "".join(_line(*row, number) for row in rows), name=f"{number}.csv")
        found = events(settings)
        assert found - reported == Counter(expected), (number, rows)
        reported = found
    assert {row[1] for row in reported} == {"below", "new-low", "returned"}
