"""Each heavy GET with its real maker: from the request to a result that the document describes."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.ctl.migrate import migrate_schema
from edge.analytics.reports.declared import REPORTS
from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.reports import queued
from tests.support.servers import Contents
from tests.support.shop import load_rows
from tests.support.workers import run


async def work(settings: Settings) -> None:
    """Do the one report that is asked for, with the maker that a worker has."""
    while not (jobs := await asyncio.to_thread(queued, settings)):
        await asyncio.sleep(0.01)
    for job in jobs:
        assert await asyncio.to_thread(run, settings, job) == "succeeded"


@pytest.fixture
def contents() -> Contents:
    return load_rows


async def test_a_report_is_made_and_answered(edge: Edge, settings: Settings) -> None:
    key = api_key(settings, "institutional")
    for path, rows in (
        ("/index/cohorts?brand=vita", 1),
        ("/index/cohorts?category=drinks&group_by=channel&granularity=day", 4),
        ("/index/insights/categories", 2),
        ("/index/insights/categories/drinks.soy-milk", 1),
        ("/index/insights/brands", 2),
        ("/index/insights/brands/vita", 1),
        ("/index/rollups/sustainability?group_by=brand", 2),
    ):
        answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
        assert answer.status == 200, answer.body
        assert len(answer.json["data"]) == answer.json["meta"]["rows"] == rows, path
        meta = answer.json["meta"]
        assert meta["coverage"]["observed_days"] == 2 and meta["to"] == "2026-07-02" and meta["method"], path
        again = await edge.get(path, key=key)
        assert again.json["data"] == answer.json["data"], path


async def test_a_window_that_begins_after_the_last_data_is_an_empty_answer_with_its_coverage(
    edge: Edge, settings: Settings
) -> None:
    key = api_key(settings, "institutional")
    body = b'{"rows": [{"code": "drinks", "weight": "1"}]}'
    await edge.ask("PUT", "/weights/example?price_reference=2026-07-01", key=key, body=body)
    for endpoint in (endpoint for report in REPORTS for endpoint in report.endpoints):
        path = f"/index{(endpoint.example or endpoint.path).format(brand='vita', category='drinks')}"
        address = f"{path}{'&' if '?' in path else '?'}from=2026-11-20"
        answer, _ = await asyncio.gather(edge.get(address, key=key), work(settings))
        assert answer.status == 200, answer.body
        meta = answer.json["meta"]
        shown = (meta["from"], meta["to"], meta["coverage"]["observed_days"])
        assert shown == ("2026-11-20", "2026-11-20", 0), path
        refused = await edge.get(f"{address}&to=2026-11-19", key=key)
        assert refused.status == 400, path
        assert refused.json["detail"] == "`to`: `2026-11-19` is not valid; must not be before `from`.", path


async def test_pages_of_a_list_hold_every_brand_once_and_name_the_next_one(edge: Edge, settings: Settings) -> None:
    key, seen, path = api_key(settings), [], "/index/insights/brands?limit=1&sort=brand"
    while path:
        answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
        assert (answer.status, answer.json["meta"]["total"]) == (200, 2)
        seen += [row["brand"] for row in answer.json["data"]]
        cursor, link = answer.json["meta"]["next_cursor"], answer.head.get("Link")
        assert (link is None) == (cursor is None)
        path = link.partition(">")[0].removeprefix("</v1") if link else ""
        assert not cursor or f"cursor={cursor}" in path
    assert seen == ["maison", "vita"]


async def test_a_cursor_of_another_question_is_refused(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    first, _ = await asyncio.gather(edge.get("/index/insights/brands?limit=1", key=key), work(settings))
    cursor = first.json["meta"]["next_cursor"]
    for other in ("brands?limit=2", "brands?limit=1&kind=sale", "categories?limit=1", "brands?limit=1&sort=brand"):
        answer = await edge.get(f"/index/insights/{other}&cursor={cursor}", key=key)
        assert (answer.status, answer.json["type"].rsplit("/", 1)[1]) == (400, "invalid-cursor"), other


async def test_children_of_a_category_are_listed(edge: Edge, settings: Settings) -> None:
    key = api_key(settings)
    path = "/index/insights/categories?parent=drinks&sort=-observations"
    answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
    assert [row["category"] for row in answer.json["data"]] == ["drinks.soy-milk"]
    unknown = await edge.get("/index/insights/categories?parent=no.where", key=key)
    assert (unknown.status, unknown.json["errors"][0]["parameter"]) == (400, "parent")


async def test_a_few_far_rows_end_no_window(edge: Edge, settings: Settings, tmp_path: Path) -> None:
    key, path = api_key(settings), "/index/insights/brands"
    far = "".join(
        f"2,Crème brûlée,Maison,Desserts,Custard,0.2,2026-07-{day:02d},{store},25,\n"
        for day in range(3, 9)
        for store in ("A", "B", "C", "D", "E", "F")
    )
    far += "3,豆奶 Soy drink,Vita,Drinks,Soy milk,,2026-11-20,SOUTH,8.5,\n"
    await asyncio.to_thread(load_rows, settings, tmp_path, far, name="far.csv")
    answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
    meta = answer.json["meta"]
    assert (meta["from"], meta["to"], meta["window_ended_by"]) == ("2026-04-10", "2026-07-08", "data")
    asked, _ = await asyncio.gather(edge.get(f"{path}?to=2026-11-20", key=key), work(settings))
    assert (asked.json["meta"]["to"], asked.json["meta"]["window_ended_by"]) == ("2026-11-20", "request")


async def test_a_default_window_ends_with_the_data_of_all_filters(
    edge: Edge, settings: Settings, tmp_path: Path
) -> None:
    key = api_key(settings, "institutional")
    # Brand and category go on in NORTH; KIOSK ended in March, but for one misdated row.
    soy = "Soy milk {0},Vita,Drinks,Soy milk,1.0,2026-{1},KIOSK,9.5,\n"
    days = ["05-20", *(f"03-{day:02d}" for day in range(1, 10) for _ in range(6))]
    rows = "".join(f"{10 + n % 7}," + soy.format(n % 7, day) for n, day in enumerate(days))
    await asyncio.to_thread(load_rows, settings, tmp_path, rows, name="kiosk.csv")
    for path, last in (
        ("/index/cohorts?brand=vita", "2026-07-02"),
        ("/index/cohorts?brand=vita&channel=KIOSK", "2026-03-09"),
        ("/index/cohorts?category=drinks&channel=KIOSK", "2026-03-09"),
        ("/index/cohorts?brand=vita&category=drinks&channel=KIOSK", "2026-03-09"),
        ("/index/cohorts?brand=vita&category=drinks", "2026-07-02"),
        ("/index/insights/brands?channel=KIOSK", "2026-03-09"),
        ("/index/insights/brands/maison?channel=NORTH", "2026-07-01"),
    ):
        answer, _ = await asyncio.gather(edge.get(path, key=key), work(settings))
        meta = answer.json["meta"]
        assert (meta["to"], meta["window_ended_by"]) == (last, "data"), path
        assert answer.json["data"], path
    nothing, _ = await asyncio.gather(edge.get("/index/cohorts?brand=maison&channel=KIOSK", key=key), work(settings))
    assert (nothing.json["data"], nothing.json["meta"]["window_ended_by"]) == ([], "index")


async def test_rollups_of_another_version_are_not_read_and_migrate_derives_them(
    edge: Edge, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(settings.database_url, application="tests") as connection:
        connection.execute("DELETE FROM month_cells")
        connection.execute("UPDATE derived_layouts SET layout = 1")
    key, path = api_key(settings), "/index/cohorts?brand=vita"
    accepted = await edge.get(path, key=key, head={"Prefer": "wait=0"})
    [job] = await asyncio.to_thread(queued, settings)
    assert await asyncio.to_thread(run, settings, job) == "queued"  # postponed, and no empty answer is kept
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    done = await asyncio.to_thread(CliRunner().invoke, migrate_schema, [])
    assert (done.exit_code, "derived what the reports read" in done.output) == (0, True), done.output
    assert await asyncio.to_thread(run, settings, job) == "succeeded"
    answer = await edge.get(f"/jobs/{accepted.json['id']}/result", key=key)
    assert [row["observations"] for row in answer.json["data"]] == [4]
