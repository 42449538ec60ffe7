"""Each kind of event is logged once, in the transaction of its cause: none without it, and none for other organizations."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shared.bulk.schema import DATASETS
from shared.db.connect import Connection, connect
from shared.errors import ItemIndexError, JobRefused
from shared.events.types import TYPES
from shared.index.iid import mint as mint_iid
from shared.organizations.accounts import SQL as ORGANIZATIONS
from shared.organizations.credentials import KEY_PREFIX, keyed_hash, mint, parse
from shared.settings.settings import Settings
from tests.support.accounts import api_key, organization
from tests.support.client import Edge
from tests.support.database import execute
from tests.support.releases import cut
from tests.support.reports import queued, quick, work
from tests.support.servers import Contents
from tests.support.shop import load_rows, open_shop
from tests.support.workers import delete_old, run, services_of
from workers.analytics.reports.publish import ReportProgress
from workers.analytics.reports.result import Answer
from workers.provenance import item_acts
from workers.provenance.standing import lock

SOY, CUSTARD = mint_iid("shop", "1").iid, mint_iid("shop", "2").iid
REPORT = "/index/cohorts?brand=vita"
NO_WAIT = {"Prefer": "wait=0"}
Happened = list[tuple[str, dict[str, Any]]]
Cause = Callable[[Connection, Settings, str], object]


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def key(settings: Settings) -> str:
    return api_key(settings, "institutional")


async def happened(edge: Edge, key: str) -> Happened:
    """Return what the feed of a key's organization has, the oldest first."""
    listed = (await edge.get("/events", key=key)).json["data"]
    cursors = [int(event["cursor"]) for event in listed]
    assert cursors == sorted(set(cursors))
    return [(event["type"], event["data"]) for event in listed]


def owner_of(settings: Settings, key: str) -> str:
    form = parse(key)
    assert form is not None
    with connect(settings.database_url, application="tests") as connection:
        query = "SELECT organization_id::text FROM api_keys WHERE key_id = $1"
        [[organization]] = connection.execute(query, (form.credential_id,)).fetchall()
    return str(organization)


def withdraw(connection: Connection, settings: Settings, organization: str) -> None:
    lock(connection)
    item_acts.withdraw(connection, SOY, "tests", None)


def merge(connection: Connection, settings: Settings, organization: str) -> None:
    lock(connection)
    item_acts.merge(connection, CUSTARD, SOY, "tests", None)


def split_again(connection: Connection, settings: Settings, organization: str) -> None:
    lock(connection)
    item_acts.restore(connection, CUSTARD, "tests", None)


def rotate(connection: Connection, settings: Settings, organization: str) -> str:
    key = mint(KEY_PREFIX)
    form = parse(key)
    assert form is not None
    values = (organization, form.credential_id, keyed_hash(key, settings.token_pepper), 0, None, "tests")
    assert connection.execute(ORGANIZATIONS.rotate_key, values).fetchone() is not None
    return key


def revoke(connection: Connection, settings: Settings, organization: str) -> None:
    assert connection.execute(ORGANIZATIONS.revoke_keys, (organization, None, "tests")).fetchone() is not None


def disable(connection: Connection, settings: Settings, organization: str) -> None:
    connection.execute(
        "INSERT INTO webhook_endpoints (organization_id, url, sealed_secret, position) VALUES ($1, 'https://x.org', '', 0)",
        (organization,),
    )
    connection.execute("UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone'")


@pytest.mark.parametrize(
    ("cause", "type", "everyones"),
    [
        (withdraw, "item.withdrawn", True),
        (merge, "item.merged", True),
        (rotate, "key.rotated", False),
        (revoke, "key.revoked", False),
        (disable, "webhook.disabled", False),
    ],
)
async def test_an_act_is_logged_when_it_commits_and_not_when_it_is_rolled_back(
    edge: Edge, settings: Settings, cause: Cause, type: str, everyones: bool
) -> None:
    organization = owner_of(settings, api_key(settings))
    outsider = api_key(settings)
    with connect(settings.database_url, application="tests") as connection:
        cause(connection, settings, organization)
        assert connection.execute("SELECT count(*) FROM event_log").fetchall() == [(1,)]
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM event_log").fetchall() == [(0,)]
        cause(connection, settings, organization)
        connection.commit()
        logged = connection.execute("SELECT type, organization_id::text FROM event_log").fetchall()
    assert logged == [(type, None if everyones else organization)]
    assert [kind for kind, _ in await happened(edge, outsider)] == ([type] if everyones else [])


async def test_merges_and_their_undoing_name_both_items(edge: Edge, settings: Settings, key: str) -> None:
    for act in (merge, split_again, withdraw):
        with connect(settings.database_url, application="tests") as connection:
            act(connection, settings, "")
    assert await happened(edge, key) == [
        ("item.merged", {"iid": CUSTARD, "survivor_iid": SOY}),
        ("item.split", {"iid": CUSTARD, "survivor_iid": SOY}),
        ("item.restored", {"iid": CUSTARD, "survivor_iid": None}),
        ("item.withdrawn", {"iid": SOY, "survivor_iid": None}),
    ]


def refuse(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    raise JobRefused("job-failed", "refused")


def break_once(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    raise ItemIndexError("tried again")


async def test_a_report_that_ends_is_logged_once_for_each_organization_that_ordered_it(
    edge: Edge, settings: Settings, key: str
) -> None:
    other, outsider = api_key(settings, "brand"), api_key(settings, "brand")
    orders = [(await edge.get(REPORT, key=one, head=NO_WAIT)).json["id"] for one in (key, other)]
    [job] = queued(settings)
    assert await work(settings, break_once) == ["queued"], "an attempt that failed is no end"
    assert await happened(edge, key) == []
    assert await work(settings, quick) == ["succeeded"]
    assert await asyncio.to_thread(run, settings, job) is None, "a message that is repeated"
    for one, ordered in zip((key, other), orders, strict=True):
        assert await happened(edge, one) == [("job.ended", {"job": ordered, "kind": "cohorts", "state": "succeeded"})]
    assert await happened(edge, outsider) == []
    assert (await edge.get(REPORT, key=outsider, head=NO_WAIT)).status == 200
    assert await happened(edge, outsider) == [], "what was there already did not end now"


async def test_a_report_that_fails_and_one_that_is_cancelled_are_logged_once(
    edge: Edge, settings: Settings, key: str
) -> None:
    failed = (await edge.get(REPORT, key=key, head=NO_WAIT)).json["id"]
    assert await work(settings, refuse) == ["failed"]
    cancelled = (await edge.get("/index/cohorts?brand=maison", key=key, head=NO_WAIT)).json["id"]
    for _ in range(2):
        await edge.ask("DELETE", f"/jobs/{cancelled}", key=key)
    assert queued(settings) == []
    assert await happened(edge, key) == [
        ("job.ended", {"job": failed, "kind": "cohorts", "state": "failed"}),
        ("job.ended", {"job": cancelled, "kind": "cohorts", "state": "cancelled"}),
    ]


async def test_cancelling_an_order_of_a_shared_job_does_not_end_it_for_the_other(
    edge: Edge, settings: Settings, key: str
) -> None:
    other = api_key(settings, "brand")
    mine, theirs = [(await edge.get(REPORT, key=one, head=NO_WAIT)).json["id"] for one in (key, other)]
    await edge.ask("DELETE", f"/jobs/{mine}", key=key)
    assert await happened(edge, other) == []
    assert await work(settings) == ["succeeded"]
    assert await happened(edge, other) == [("job.ended", {"job": theirs, "kind": "cohorts", "state": "succeeded"})]
    assert [data["state"] for _, data in await happened(edge, key)] == ["cancelled"]


async def test_an_export_that_is_ready_is_logged_once_beside_its_job(edge: Edge, settings: Settings, key: str) -> None:
    body = json.dumps({"dataset": "observations", "format": "csv"}).encode()
    export = (await edge.ask("POST", "/index/exports", key=key, body=body)).json["id"]
    [[job]] = await asyncio.to_thread(execute, settings, "SELECT id::text FROM jobs WHERE kind = 'export'")
    assert await asyncio.to_thread(run, settings, job) == "succeeded"
    ended = {"job": export, "kind": "export", "state": "succeeded"}
    assert sorted(await happened(edge, key)) == [("export.ready", ended), ("job.ended", ended)]
    await asyncio.to_thread(expire_all, settings)
    assert len(await happened(edge, key)) == 2, "an export that expires is neither"


def expire_all(settings: Settings) -> None:
    services = services_of(settings)
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        execute(settings, "UPDATE jobs SET expires_at = now() - interval '1 day' WHERE state = 'succeeded'")
        delete_old(connection, settings, services.objects)


async def test_a_release_is_logged_once_for_each_dataset_and_everyone_sees_it(
    edge: Edge, settings: Settings, key: str
) -> None:
    await asyncio.to_thread(cut, settings)
    for one in (key, api_key(settings, "free")):
        found = await happened(edge, one)
        assert {type for type, _ in found} == {"release.cut"}
        assert sorted(data["dataset"] for _, data in found) == sorted(DATASETS)


async def test_a_watch_that_fires_is_logged_for_its_organization_alone(
    edge: Edge, settings: Settings, key: str, tmp_path: Path
) -> None:
    wanted = {"target": "article", "code": SOY, "condition": "below", "amount": "9.00", "currency": "HKD"}
    made = await edge.ask("POST", "/watches", key=key, body=json.dumps(wanted).encode())
    assert made.status == 201, made
    falls = "1,Soy milk 1L,Vita,Drinks,Soy milk,1.0,2026-07-09,NORTH,8.00,\n"
    with connect(settings.database_url, application="tests", autocommit=True) as owner:
        owner.execute("ALTER TABLE event_log ADD CONSTRAINT refused CHECK (type <> 'watch.fired') NOT VALID")
        with pytest.raises(ItemIndexError):
            await asyncio.to_thread(load_rows, settings, tmp_path, falls)
        versions = "SELECT count(*) FROM data_versions"
        assert (await happened(edge, key), owner.execute(versions).fetchall()) == ([], [(1,)]), "one transaction"
        owner.execute("ALTER TABLE event_log DROP CONSTRAINT refused")
    await asyncio.to_thread(load_rows, settings, tmp_path, falls)
    [(type, data)] = await happened(edge, key)
    assert (type, data["watch"], data["iid"], data["price"]) == ("watch.fired", made.json["id"], SOY, "8.00")
    assert await happened(edge, api_key(settings, "brand")) == []


async def test_a_day_that_is_used_up_is_logged_once_at_80_and_once_at_100_per_cent(
    edge: Edge, settings: Settings
) -> None:
    execute(settings, "UPDATE plans SET daily_units = 5, burst_units = 1000 WHERE name = 'brand'")
    key, other = api_key(settings, "brand"), api_key(settings, "brand")
    used: list[list[tuple[int, int]]] = []
    for _ in range(7):
        await edge.get(f"/index/lookup/{SOY}", key=key, check=False)
        await edge.resources.usage.flush()
        used.append([(data["percent"], data["used"]) for _, data in await happened(edge, key)])
    assert used == [[], [], [], [(80, 4)], *[[(80, 4), (100, 5)]] * 3]
    await edge.get(f"/index/lookup/{SOY}", key=other)
    await edge.resources.usage.flush()
    assert await happened(edge, other) == []


async def test_a_quota_that_could_not_be_logged_in_an_outage_is_logged_after_it(edge: Edge, settings: Settings) -> None:
    execute(settings, "UPDATE plans SET daily_units = 1, burst_units = 1000 WHERE name = 'brand'")
    key = api_key(settings, "brand")
    await edge.get(f"/index/lookup/{SOY}", key=key)
    with connect(settings.database_url, application="tests", autocommit=True) as owner:
        owner.execute(
            "CREATE FUNCTION down() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '57P03'; END $$"
        )
        owner.execute("CREATE TRIGGER down BEFORE INSERT ON event_log FOR EACH ROW EXECUTE FUNCTION down()")
        await edge.resources.usage.flush()
        owner.execute("DROP TRIGGER down ON event_log")
        # Read here and not by the API: another call would be counted, and note its quota anew.
        percents = "SELECT data ->> 'percent' FROM event_log ORDER BY number"
        assert owner.execute(percents).fetchall() == []
        await edge.resources.usage.flush()
        assert owner.execute(percents).fetchall() == [("80",), ("100",)]


def test_each_declared_type_of_event_has_a_cause_in_the_schema(settings: Settings) -> None:
    """Every type stands in a function of the database or in SQL of loads, and nothing else is logged."""
    root = Path(__file__).parents[3]
    sources = [
        root / "shared/db/schema.sql",
        root / "workers/events/watches.sql",
        root / "workers/analytics/rollups/rollups.sql",
    ]
    text = "\n".join(path.read_text() for path in sources)
    missing = [type for type in TYPES if f"'{type}'" not in text]
    assert not missing, "insert them into event_log by a trigger, in a migration; then run `make schema`"


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
    rows = execute(
        settings,
        """
        SELECT s.source_item_id, e.data ->> 'condition', w.amount_minor, w.days, e.data ->> 'day', e.data ->> 'price'
        FROM event_log e JOIN watches w ON w.id = (e.data ->> 'watch')::uuid
        JOIN items i ON i.iid = w.code JOIN item_sources s ON s.item_id = i.id
        WHERE e.type = 'watch.fired'
        """,
    )
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
