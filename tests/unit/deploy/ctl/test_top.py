"""What `itemindex top` makes of two readings."""

from pathlib import Path

import pytest
from rich.console import Console

from deploy.ctl.scrape import Between, Scrape, quantile_of
from deploy.ctl.top import frame
from deploy.local.process_table import Effort, efforts
from shared.errors import ItemIndexError

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


def test_quantiles_at_the_edges() -> None:
    for buckets, expected in (
        ([], None),
        ([(1.0, 0.0), (float("inf"), 0.0)], None),
        ([(1.0, 0.0), (float("inf"), 4.0)], 1.0),
        ([(2.0, 4.0)], 1.0),
    ):
        assert quantile_of(0.5, buckets) == expected, buckets


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
