"""Watches through the real path: made by the API, evaluated by loads, read from the feed."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.servers import Contents
from tests.support.shop import load_rows, undone


def _row(day: str, price: str, sku: str = "1", store: str = "NORTH") -> str:
    return f"{sku},Soy milk 1L,Vita,Drinks,Soy milk,1.0,{day},{store},{price},\n"


@pytest.fixture
def contents() -> Contents:
    return load_rows


class Shop:
    """An edge over the shop, whose data grows by loads."""

    def __init__(self, edge: Edge, settings: Settings, folder: Path, key: str) -> None:
        self.edge, self.settings, self.folder, self.key = edge, settings, folder, key
        self.after = 0

    async def watch(self, **wanted: Any) -> Answer:
        body = json.dumps(wanted).encode()
        return await self.edge.ask("POST", "/watches", key=self.key, body=body)

    async def load(self, *rows: str) -> int:
        """Load rows, and return the number of the load's event."""
        summary = await asyncio.to_thread(load_rows, self.settings, self.folder, "".join(rows))
        [[number]] = execute(self.settings, "SELECT no FROM events WHERE load_id = $1", summary.load_id)
        return int(number)

    async def undo(self, number: int) -> None:
        await asyncio.to_thread(undone, self.settings, str(number))

    async def fired(self) -> list[dict[str, Any]]:
        """Return the data of the events since the last call."""
        answer = await self.edge.get(f"/watches/events?after={self.after}", key=self.key)
        assert answer.status == 200, answer
        events = answer.json["data"]
        self.after = int(events[-1]["cursor"]) if events else self.after
        return [event["data"] for event in events]


@pytest.fixture
async def shop(edge: Edge, settings: Settings, tmp_path: Path, key: str) -> Shop:
    return Shop(edge, settings, tmp_path, key)


async def iid(shop: Shop) -> str:
    found = await asyncio.to_thread(_iids, shop.settings)
    return found["1"]


def _iids(settings: Settings) -> dict[str, str]:
    rows = execute(settings, "SELECT t.source_item_id, i.iid FROM item_sources t JOIN items i ON i.id = t.item_id")
    return dict(rows)


async def test_below_an_amount_fires_once_and_again_after_the_price_was_clearly_above(shop: Shop) -> None:
    article = await iid(shop)
    made = await shop.watch(target="article", code=article, condition="below", amount="10.00", currency="HKD")
    assert made.status == 201, made
    await shop.load(_row("2026-07-03", "9.99"))
    [event] = await shop.fired()
    assert (event["watch"], event["iid"], event["price"], event["day"]) == (
        made.json["id"],
        article,
        "9.99",
        "2026-07-03",
    )
    await shop.load(_row("2026-07-04", "9.50"))
    assert await shop.fired() == [], "it is below already"
    await shop.load(_row("2026-07-05", "10.10"))
    await shop.load(_row("2026-07-06", "9.90"))
    assert await shop.fired() == [], "one per cent above does not arm it"
    await shop.load(_row("2026-07-07", "10.20"))
    await shop.load(_row("2026-07-08", "9.90"))
    assert [event["price"] for event in await shop.fired()] == ["9.90"]


async def test_an_event_of_a_load_that_is_undone_and_done_again_comes_once(shop: Shop) -> None:
    await shop.watch(target="article", code=await iid(shop), condition="below", amount="9", currency="HKD")
    number = await shop.load(_row("2026-07-03", "8.00"))
    assert len(await shop.fired()) == 1
    await shop.undo(number)
    assert await shop.fired() == []
    await shop.load(_row("2026-07-03", "8.00"))
    assert await shop.fired() == [], "the same day and price were reported"
    await shop.load(_row("2026-07-04", "9.50"))
    await shop.load(_row("2026-07-05", "8.00"))
    assert len(await shop.fired()) == 1


async def test_older_days_and_higher_prices_report_nothing(shop: Shop) -> None:
    await shop.watch(target="article", code=await iid(shop), condition="below", amount="9", currency="HKD")
    await shop.load(_row("2026-05-03", "5.00"), _row("2026-07-01", "4.00", store="SOUTH"))
    assert await shop.fired() == []
    await shop.load(_row("2026-05-04", "5.00"))
    assert await shop.fired() == [], "a month that the load leaves alone knows a later day"


async def test_a_brand_and_a_category_report_each_of_their_articles(shop: Shop) -> None:
    codes = {"brand": "vita", "category": "drinks"}
    for target, code in codes.items():
        made = await shop.watch(target=target, code=code, condition="below", amount="8.6", currency="HKD", label=target)
        assert made.status == 201, made
    await shop.load(_row("2026-07-03", "8.00"), _row("2026-07-03", "8.10", sku="3"), _row("2026-07-03", "20", sku="2"))
    events = await shop.fired()
    assert sorted((event["label"], event["price"]) for event in events) == [
        ("brand", "8.00"),
        ("brand", "8.10"),
        ("category", "8.00"),
        ("category", "8.10"),
    ]


async def test_a_new_low_needs_the_whole_span_and_a_lower_price_than_any_day_of_it(shop: Shop) -> None:
    await shop.watch(target="article", code=await iid(shop), condition="new-low", days=30, currency="HKD")
    await shop.load(_row("2026-07-20", "5.00"))
    assert await shop.fired() == [], "prices are known for 19 days only"
    await shop.load(_row("2026-08-18", "5.00"))
    assert await shop.fired() == [], "as low as 29 days before"
    await shop.load(_row("2026-08-19", "4.90"))
    [event] = await shop.fired()
    assert (event["price"], event["low_before"], event["days"]) == ("4.90", "5.00", 30)
    await shop.load(_row("2026-08-20", "4.85"))
    assert await shop.fired() == [], "not two per cent below the low that was reported"
    await shop.load(_row("2026-08-21", "4.80"))
    assert [event["price"] for event in await shop.fired()] == ["4.80"]


async def test_back_after_absence_is_reported_once_and_a_gap_that_is_filled_in_later_is_none(shop: Shop) -> None:
    await shop.watch(target="article", code=await iid(shop), condition="returned", days=30)
    await shop.load(_row("2026-07-30", "10"))
    assert await shop.fired() == []
    number = await shop.load(_row("2026-09-01", "10"), _row("2026-09-02", "10"))
    [event] = await shop.fired()
    assert (event["day"], event["days"]) == ("2026-09-01", 30)
    await shop.undo(number)
    await shop.load(_row("2026-09-01", "10"), _row("2026-09-02", "10"))
    await shop.load(_row("2026-09-03", "10"))
    assert await shop.fired() == []


async def test_an_index_that_moved_by_more_than_its_per_cent_is_reported_once_a_month(shop: Shop) -> None:
    await shop.watch(target="brand", code="vita", condition="index-moved", percent=5, currency="HKD")
    july = (10.90 * 11.50) ** 0.5  # of NORTH; SOUTH has no price in August
    await shop.load(_row("2026-08-01", "11.20"))
    assert await shop.fired() == [], "hardly a change"
    await shop.load(_row("2026-08-02", "13.50"))
    [event] = await shop.fired()
    assert event["change_percent"] == pytest.approx(100 * ((11.20 * 13.50) ** 0.5 / july - 1), abs=1e-3)
    await shop.load(_row("2026-08-03", "12.00"))
    assert await shop.fired() == [], "no further move of five per cent"


async def test_a_paused_watch_reports_nothing_and_a_deleted_one_is_gone(shop: Shop) -> None:
    made = await shop.watch(target="brand", code="vita", condition="below", amount="9", currency="HKD")
    at = f"/watches/{made.json['id']}"
    paused = await shop.edge.ask("PATCH", at, key=shop.key, body=b'{"paused": true}')
    assert paused.status == 200 and paused.json["paused_at"]
    await shop.load(_row("2026-07-03", "8.00"))
    assert await shop.fired() == []
    assert (await shop.edge.ask("PATCH", at, key=shop.key, body=b'{"paused": false}')).json["paused_at"] is None
    assert [watch["id"] for watch in (await shop.edge.get("/watches", key=shop.key)).json["data"]] == [made.json["id"]]
    assert (await shop.edge.ask("DELETE", at, key=shop.key)).status == 204
    assert (await shop.edge.get(at, key=shop.key)).status == 404


async def test_nothing_is_reported_while_the_organization_is_suspended_or_its_plan_has_no_watches(shop: Shop) -> None:
    article = await iid(shop)
    await shop.watch(target="article", code=article, condition="below", amount="10.00", currency="HKD")
    await shop.watch(target="article", code=article, condition="returned", days=30)
    await asyncio.to_thread(execute, shop.settings, "UPDATE organizations SET state = 'suspended'")
    await shop.load(_row("2026-09-03", "9.90"))
    await asyncio.to_thread(execute, shop.settings, "UPDATE organizations SET plan = 'free', state = 'active'")
    await shop.load(_row("2026-09-04", "9.80"))
    await asyncio.to_thread(execute, shop.settings, "UPDATE organizations SET plan = 'brand'")
    shop.edge.forget_accounts()
    assert await shop.fired() == []
    await shop.load(_row("2026-09-05", "9.70"))
    assert [(event["condition"], event["price"]) for event in await shop.fired()] == [("below", "9.70")]


async def test_another_organization_sees_neither_watch_nor_event(shop: Shop) -> None:
    made = await shop.watch(target="brand", code="vita", condition="below", amount="9", currency="HKD")
    await shop.load(_row("2026-07-03", "8.00"))
    other = api_key(shop.settings, "brand")
    assert (await shop.edge.get(f"/watches/{made.json['id']}", key=other)).status == 404
    assert (await shop.edge.get("/watches/events", key=other)).json["data"] == []
    assert (await shop.edge.ask("DELETE", f"/watches/{made.json['id']}", key=other)).status == 404
    assert len(await shop.fired()) == 1


async def test_a_target_that_cannot_be_watched_is_refused_by_name(shop: Shop) -> None:
    for wanted, fault in (
        ({"target": "article", "code": "IID-NO-SUCH", "condition": "returned"}, "code"),
        ({"target": "brand", "code": "vita", "condition": "below", "amount": "0", "currency": "HKD"}, "amount"),
        ({"target": "brand", "code": "vita", "condition": "below", "amount": "1.001", "currency": "HKD"}, "amount"),
        ({"target": "brand", "code": "vita", "condition": "new-low", "days": 31, "currency": "HKD"}, "days"),
        ({"target": "brand", "code": "vita", "condition": "new-low", "days": 30, "currency": "XXX"}, "currency"),
        ({"target": "brand", "code": "vita", "condition": "returned", "currency": "HKD"}, "currency"),
        ({"target": "article", "code": "x", "condition": "index-moved", "percent": 1, "currency": "HKD"}, "target"),
    ):
        refused = await shop.watch(**wanted)
        assert refused.status == 400, wanted
        assert [error["parameter"] for error in refused.json["errors"]] == [fault], wanted


async def test_a_free_plan_has_no_watches(shop: Shop) -> None:
    answer = await shop.edge.get("/watches", key=api_key(shop.settings, "free"))
    assert answer.status == 403


async def test_refusals_name_the_member_and_what_it_must_be(shop: Shop) -> None:
    article = await iid(shop)
    for members, slug, parameter in [
        ({"condition": "below"}, "missing-parameter", "amount"),
        ({"condition": "index-moved", "currency": "HKD", "percent": 0}, "invalid-parameter", "percent"),
        ({"condition": "index-moved", "currency": "HKD", "percent": "5"}, "invalid-parameter", "percent"),
        ({"condition": "index-moved", "currency": "HKD", "percent": True}, "invalid-parameter", "percent"),
    ]:
        refused = await shop.watch(target="article", code=article, **members)
        assert (refused.status, refused.json["type"].rpartition("/")[2]) == (400, slug), members
        assert refused.json["errors"][0]["parameter"] == parameter
    made = await shop.watch(target="brand", code="vita", condition="below", amount="9", currency="HKD")
    one = f"/watches/{made.json['id']}"
    for body in (b'{"paused": 1}', b'{"paused": 0}', b'{"paused": "true"}'):
        assert (await shop.edge.ask("PATCH", one, key=shop.key, body=body)).status == 400, body


async def test_a_watch_is_made_and_deleted_once_under_one_idempotency_key(shop: Shop) -> None:
    body = json.dumps({"target": "brand", "code": "vita", "condition": "returned"}).encode()
    head = {"Idempotency-Key": "made"}
    made = [await shop.edge.ask("POST", "/watches", key=shop.key, body=body, head=head) for _ in range(2)]
    assert [(a.status, a.body, a.head["Location"]) for a in made] == [(201, made[0].body, made[0].head["Location"])] * 2
    assert (await shop.edge.get("/watches", key=shop.key)).json["count"] == 1
    one, head = f"/watches/{made[0].json['id']}", {"Idempotency-Key": "deleted"}
    deleted = [await shop.edge.ask("DELETE", one, key=shop.key, head=head) for _ in range(2)]
    assert [answer.status for answer in deleted] == [204, 204]


async def test_the_events_of_watches_are_no_watch(shop: Shop) -> None:
    for method in ("PATCH", "DELETE"):
        answer = await shop.edge.ask(method, "/watches/events", key=shop.key, body=b'{"paused": true}')
        assert answer.status == 405, method
        allowed = set(answer.head["Allow"].replace(" ", "").split(","))
        assert allowed >= {"GET", "HEAD"}, method
        assert not {"PATCH", "DELETE"} & allowed, method
