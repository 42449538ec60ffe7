"""Stored reports and the list of datasets from memory: the same bytes, the same price, and no longer than they hold."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from edge.http.answer_cache import AnswerKey, representation_of
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge, running_edge
from tests.support.database import execute
from tests.support.kept_answers import FORMATS, ONLY_PAID, Asker, until, used
from tests.support.releases import cut
from tests.support.reports import work
from tests.support.servers import Contents
from tests.support.shop import HEADER, load_rows, open_shop
from tests.support.wire import OTHER


@pytest.fixture
def contents() -> Contents:
    return open_shop


REPORTS = ("/v1/index/cohorts?brand=vita", "/v1/index/rollups/sustainability?category=drinks")

DATASETS = "/v1/index/datasets"


async def _make(asker: Asker, settings: Settings, credential: str, targets: tuple[str, ...]) -> None:
    """Have reports made, in every format, and paid for by one organization."""
    for target in targets:
        for extra in (*FORMATS, *ONLY_PAID):
            if (await asker.ask(target, credential, f"{extra}Prefer: wait=0\r\n")).startswith(b"HTTP/1.1 202"):
                assert await work(settings) == ["succeeded"]


async def test_a_stored_report_has_the_same_bytes_in_every_format_for_every_organization_before_and_after_a_load(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    execute(settings, "UPDATE plans SET burst_units = 100000, daily_units = 100000")
    brand, institutional, other = (
        f"Authorization: ApiKey {api_key(settings, plan)}" for plan in ("brand", "institutional", "institutional")
    )
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)

        async def all_of_it() -> dict[tuple[str, str], bytes]:
            await _make(asker, settings, institutional, REPORTS)
            found = {}
            for target in REPORTS:
                for extra in (*FORMATS, *ONLY_PAID):
                    found[target, extra] = await asker.both(target, institutional, extra)
                    condition = extra + "If-None-Match: *\r\n"
                    assert (await asker.both(target, institutional, condition)).startswith(b"HTTP/1.1 304")
            # What is kept is found by every organization where all of them pay the same for it.
            taken.clear()
            assert (await asker.ask(REPORTS[0], brand)).startswith(b"HTTP/1.1 200")
            assert (await asker.ask(REPORTS[0], brand)).startswith(b"HTTP/1.1 200")
            assert taken[-1]
            return found

        before = await all_of_it()
        assert {answer.split(b" ")[1] for answer in before.values()} == {b"200"}
        # This one costs an organization that never ordered it as much as a new one: only its owner finds it kept.
        await asker.ask(DATASETS, other)
        before_other = await used(edge, other)
        taken.clear()
        assert b'"cost_units":20' in await asker.ask(REPORTS[1], other)
        assert b'"cost_units":1,' in await asker.ask(REPORTS[1], other, OTHER)
        assert (taken, await used(edge, other) - before_other) == ([False, False], 21)
        version = edge.resources.version.current
        load_rows(settings, tmp_path, "9,Oat milk,Vita,Drinks,Soy milk,1,2026-07-03,EAST,3,\n", name="more.csv")
        await until(lambda: edge.resources.version.current > version)
        after = await all_of_it()
    json = [key for key in before if key[1] in FORMATS[:3]]
    assert [key for key in json if before[key] == after[key]] == []


async def test_a_stored_report_is_kept_no_longer_than_its_result(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    key = f"Authorization: ApiKey {api_key(settings)}"
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        await asker.ask(REPORTS[0], key, "Prefer: wait=0\r\n")
        await work(settings)
        assert (await asker.ask(REPORTS[0], key)).startswith(b"HTTP/1.1 200")
        kept = edge.resources.answers.find(AnswerKey(REPORTS[0].encode(), representation_of(None), None))
    [(expires_at,)] = execute(settings, "SELECT expires_at FROM jobs WHERE kind = 'cohorts'")
    assert kept is not None
    assert kept.until == pytest.approx(expires_at.timestamp() - 60, abs=0.001)


async def test_the_list_of_datasets_is_kept_until_a_release_and_costs_no_unit(
    settings: Settings, tmp_path: Path, taken: list[bool]
) -> None:
    key, brand = (f"Authorization: ApiKey {api_key(settings, plan)}" for plan in ("institutional", "brand"))
    async with running_edge(settings, tmp_path) as edge:
        asker = Asker(edge, taken)
        empty = await asker.both(DATASETS, key)
        assert empty.count(b'"latest":null') > 0
        assert (await asker.both(DATASETS, brand)).startswith(b"HTTP/1.1 403")
        assert await used(edge, key) == 0
        generation = edge.resources.answers.generation
        await asyncio.to_thread(cut, settings)
        await until(lambda: edge.resources.answers.generation > generation)
        released = await asker.both(DATASETS, key)
        assert b'"latest":null' not in released
        execute(settings, "UPDATE plans SET burst_units = 1 WHERE name = 'institutional'")
        await until(lambda: edge.resources.credentials.plans["institutional"].burst_units == 1)
        await asker.ask("/v1/", key)
        many = await asyncio.gather(*(asker.ask(DATASETS, key, extra) for extra in ("", OTHER) * 6))
    refused = {answer for answer in many if answer.startswith(b"HTTP/1.1 429")}
    assert len(refused) == 1, refused
    assert set(many) <= {*refused, released}


ROWS = "AB-1234,Tea,Vita,Drinks,Tea,,2026-07-01,NORTH,8.5,\n"


class Reads:
    """Counts how often the edge asks PostgreSQL for rows; the questions are answered."""

    def __init__(self, edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        fetch = edge.resources.database.fetch

        async def counted(query: str, *arguments: Any, **named: Any) -> Any:
            self.count += "item_identifiers" in query
            return await fetch(query, *arguments, **named)

        monkeypatch.setattr(edge.resources.database, "fetch", counted)


async def names(edge: Edge, q: str, key: str) -> list[str]:
    return [hit["name"] for hit in (await edge.get(f"/index/search?q={q}", key=key)).json["data"]]


async def test_an_identifier_that_no_item_has_costs_postgresql_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings)
    async with running_edge(settings, tmp_path) as edge:
        reads = Reads(edge, monkeypatch)
        assert await names(edge, "soy+milk1l", key) == ["Soy milk 1L", "豆奶 Soy drink"]
        assert await names(edge, "4006381333931", key) == []
        assert reads.count == 0


async def test_until_the_index_follows_a_load_its_identifiers_are_found_in_postgresql(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = api_key(settings)
    execute(settings, "UPDATE data_versions SET committed_at = committed_at - interval '1 day'")
    async with running_edge(settings, tmp_path) as edge:
        reads = Reads(edge, monkeypatch)
        await names(edge, "ab-1234", key)  # of the same number, but another moment: a database that was restored
        assert reads.count == 1
        load_rows(settings, tmp_path, ROWS, header=HEADER, name="more.csv")
        assert await edge.resources.version.read()
        await names(edge, "ab-1234", key)
        assert reads.count == 2
