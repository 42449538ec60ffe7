"""The calculator of sizes adds up, and says what gives way; the page shows what it says."""

import json
from pathlib import Path

from click.testing import CliRunner

from tests.assurance.perf.sizing.__main__ import capacity, pages
from tests.assurance.perf.sizing.plan import Load, bottleneck, plan

PAGE = Path(__file__).parents[4] / "docs" / "capacity.md"


def test_the_tables_of_the_page_are_the_calculators() -> None:
    kept = PAGE.read_text().partition("<!-- capacity -->\n")[2].partition("<!-- /capacity -->")[0]
    assert kept == pages(), "put the output of `python -m tests.assurance.perf.sizing --markdown` between the marks"


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
