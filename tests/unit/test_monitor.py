"""What `itemindex top` makes of two readings, and the calculator of sizes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from deploy.ctl.top import Between, Effort, Scrape, efforts, frame, quantile_of
from shared.errors import ItemIndexError
from tests.perf.sizing.__main__ import capacity, pages
from tests.perf.sizing.plan import FIGURES, Load, Need, bottleneck, edge_processes, machines, plan

# What `itemindex top` makes of two readings.


BEFORE = """
itemindex_requests_total{route="lookup",status="200"} 10
itemindex_requests_total{route="lookup",status="429"} 90
itemindex_requests_total{route="search",status="500"} 5
itemindex_request_seconds_bucket{route="lookup",le="0.001"} 50
itemindex_request_seconds_bucket{route="lookup",le="0.01"} 100
itemindex_request_seconds_bucket{route="lookup",le="+Inf"} 100
"""

AFTER = """
itemindex_requests_total{route="lookup",status="200"} 30
itemindex_requests_total{route="lookup",status="429"} 90
itemindex_requests_total{route="search",status="500"} 2
itemindex_request_seconds_bucket{route="lookup",le="0.001"} 60
itemindex_request_seconds_bucket{route="lookup",le="0.01"} 120
itemindex_request_seconds_bucket{route="lookup",le="+Inf"} 120
itemindex_record_reads_total{where="memory"} 30
itemindex_record_reads_total{where="database"} 10
itemindex_quota_decisions_total{plan="free",outcome="taken"} 20
itemindex_queue_depth{queue="reports",state="queued"} 7
itemindex_queue_age_seconds{queue="reports"} 12.5
itemindex_store_up{store="state"} 1
itemindex_data_version{part="edge"} 42
"""


@pytest.fixture
def between() -> Between:
    return Between(Scrape.of(BEFORE, 100.0), Scrape.of(AFTER, 102.0))


def test_rates_are_what_moved_per_second(between: Between) -> None:
    assert between.rates("requests_total", "route", "status") == {("lookup", "200"): 10.0, ("search", "500"): 1.0}
    assert between.rates("requests_total", "route") == {("lookup",): 10.0, ("search",): 1.0}


def test_quantiles_are_of_what_came_in_between(between: Between) -> None:
    assert between.quantile(0.25, "request_seconds", route="lookup") == pytest.approx(0.0005)
    assert between.quantile(0.75, "request_seconds", route="lookup") == pytest.approx(0.0055)
    assert between.quantile(0.5, "request_seconds", route="search") is None


@pytest.mark.parametrize(
    ("buckets", "expected"),
    [
        ([], None),
        ([(1.0, 0.0), (float("inf"), 0.0)], None),
        ([(1.0, 0.0), (float("inf"), 4.0)], 1.0),
        ([(2.0, 4.0)], 1.0),
    ],
)
def test_quantiles_at_the_edges(buckets: list[tuple[float, float]], expected: float | None) -> None:
    assert quantile_of(0.5, buckets) == expected


def test_a_frame_shows_every_figure(between: Between) -> None:
    console = Console(width=160, record=True, force_terminal=False)
    console.print(frame(between, {"edge-a": Effort(2, 1, 1.0, 10.0)}, {"edge-a": Effort(2, 64 << 20, 1.5, 11.0)}))
    text = console.export_text()
    for expected in ("data_version 42", "11.0 requests/s", "lookup", "75.0%", "12.5 s", "64 MiB", "50%", "taken"):
        assert expected in text, text


def test_an_address_where_nothing_listens_is_one_clear_error() -> None:
    with pytest.raises(ItemIndexError, match="is not responding"):
        Scrape.fetch("http://127.0.0.1:9/metrics")


def test_a_part_is_its_process_and_all_its_children(tmp_path: Path) -> None:
    for pid, name, parent in ((10, "(it) is) odd", 1), (11, "child", 10), (12, "grandchild", 11), (20, "other", 1)):
        numbers = ["0"] * 40
        numbers[0], numbers[1], numbers[11], numbers[12], numbers[21] = "S", str(parent), "100", "50", "256"
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(numbers)}")
    found = efforts({"edge-a": 10, "gone": 99}, tmp_path)
    assert found.keys() == {"edge-a"}
    assert found["edge-a"].processes == 3
    assert found["edge-a"].cpu_seconds == pytest.approx(
        found["edge-a"].processes * efforts({"x": 20}, tmp_path)["x"].cpu_seconds
    )


# The calculator adds up, and says what gives way; the page shows what it says.


PAGE = Path(__file__).parents[2] / "deploy" / "capacity.md"


def needs(**given: float) -> dict[str, Need]:
    return {need.part: need for need in plan(Load(**{"lookups": 1_000.0, "observations": 1e7, **given}))}  # type: ignore[arg-type]


def test_the_tables_of_the_page_are_the_calculators() -> None:
    kept = PAGE.read_text().partition("<!-- capacity -->\n")[2].partition("<!-- /capacity -->")[0]
    assert kept == pages(), "put the output of `python -m tests.perf.sizing --markdown` between the marks"


def test_an_edge_process_carries_what_its_microseconds_allow() -> None:
    load = Load(lookups=100_000, observations=1e7, refused=0, cold=0, busy=0.5)
    assert edge_processes(load) == -(-100_000 * FIGURES["microseconds"]["lookup"]["edge"] // 500_000)
    assert edge_processes(Load(lookups=1, observations=1e7)) == 4  # two hosts of two: one may fail


@pytest.mark.parametrize("part", ["nginx", "edge", "state store", "cache store"])
def test_ten_times_the_look_ups_are_ten_times_the_cores(part: str) -> None:
    few, many = needs(lookups=1_000_000)[part].cores, needs(lookups=10_000_000)[part].cores
    assert many == pytest.approx(10 * few, rel=0.05)


def test_refusals_are_cheaper_than_answers() -> None:
    assert needs(lookups=1e5, refused=1.0)["edge"].cores < needs(lookups=1e5, refused=0.0)["edge"].cores


def test_small_loads_fit_on_two_machines_and_nothing_gives_way() -> None:
    load = Load(lookups=1_000, observations=1e7)
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


def test_the_command_prints_json_and_a_table() -> None:
    printed = CliRunner().invoke(capacity, ["--lookups", "1e6", "--observations", "1e9", "--json"])
    reported = json.loads(printed.output)
    assert reported["machines"] > 2 and reported["gives_way_first"]
    assert {"part", "need", "carries", "beyond", "then"} <= reported["parts"][0].keys()
    table = CliRunner().invoke(capacity, ["--lookups", "2000"])
    assert table.exit_code == 0 and not table.exception
