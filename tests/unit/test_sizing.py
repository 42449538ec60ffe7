"""The calculator adds up, and says what gives way; the page shows what it says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.perf.sizing.__main__ import capacity, pages
from tests.perf.sizing.plan import FIGURES, Load, Need, bottleneck, edge_processes, machines, plan

PAGE = Path(__file__).parents[2] / "deploy" / "capacity.md"


def needs(**given: float) -> dict[str, Need]:
    return {need.part: need for need in plan(Load(**{"lookups": 1_000.0, "observations": 1e7, **given}))}  # type: ignore[arg-type]


def test_the_tables_of_the_page_are_the_calculators() -> None:
    kept = PAGE.read_text().partition("<!-- capacity -->\n")[2].partition("<!-- /capacity -->")[0]
    assert kept == pages(), "put the output of `python -m tests.perf.sizing --markdown` between the marks"


def test_an_edge_process_carries_what_its_microseconds_allow() -> None:
    load = Load(lookups=100_000, observations=1e7, refused=0, cold=0, busy=0.5)
    assert edge_processes(load) == -(-100_000 * FIGURES["microseconds"]["look-up"]["edge"] // 500_000)
    assert edge_processes(Load(lookups=1, observations=1e7)) == 4  # two hosts of two: one may fail


@pytest.mark.parametrize("part", ["nginx", "edge", "state store", "cache store"])
def test_ten_times_the_look_ups_are_ten_times_the_cores(part: str) -> None:
    few, many = needs(lookups=1_000_000)[part].cores, needs(lookups=10_000_000)[part].cores
    assert many == pytest.approx(10 * few, rel=0.05)


def test_refusals_are_cheaper_than_answers() -> None:
    assert needs(lookups=1e5, refused=1.0)["edge"].cores < needs(lookups=1e5, refused=0.0)["edge"].cores


def test_small_loads_fit_on_two_machines_and_nothing_gives_way() -> None:
    load = Load(lookups=1_000, observations=1e7, accounts=100)
    assert machines(plan(load), load) == 2
    assert bottleneck(plan(load)) is None


def test_each_part_that_saturates_first_has_a_remedy() -> None:
    load = Load(lookups=1_000_000, observations=1e9, reports_an_hour=1e6)
    beyond = [need for need in plan(load) if need.beyond]
    first = bottleneck(plan(load))
    assert first is not None
    assert first.times == max(need.times for need in beyond)
    assert {"state store", "PostgreSQL, connections"} <= {need.part for need in beyond}
    assert "search index" not in {need.part for need in beyond}
    assert all(len(need.then) > 20 for need in beyond)


def test_accounts_that_stay_on_a_host_spare_postgresql() -> None:
    scattered = needs(lookups=1e6, accounts=1e5)["PostgreSQL, callers"].cores
    assert scattered > needs(lookups=1e6, accounts=1e3)["PostgreSQL, callers"].cores


def test_the_command_prints_json_and_a_table() -> None:
    printed = CliRunner().invoke(capacity, ["--lookups", "1e6", "--observations", "1e9", "--json"])
    reported = json.loads(printed.output)
    assert reported["machines"] > 2 and reported["gives_way_first"]
    assert {"part", "need", "carries", "beyond", "then"} <= reported["parts"][0].keys()
    table = CliRunner().invoke(capacity, ["--lookups", "2000"])
    assert table.exit_code == 0 and not table.exception
