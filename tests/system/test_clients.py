"""Both clients against the whole stack and its demo data, as customers would use them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import httpx
import matplotlib as mpl
import polars
import pytest
from itemindex_client import AsyncClient, Client, NotFound, Report

from tests.support.node import node
from tests.system.conftest import PROJECT, Running

pytestmark = pytest.mark.xdist_group("stack")
PACKAGE = PROJECT / "clients/python"


@pytest.fixture(scope="module")
def key(stack: Running) -> str:
    """A key of an organization with bulk data."""
    organization = stack.ctl("orgs", "create", "Client", "--plan", "institutional").strip()
    return stack.ctl("keys", "issue", organization).strip()


@pytest.fixture
def url(stack: Running) -> str:
    return f"http://127.0.0.1:{stack.port}/v1"


def test_a_search_is_read_to_its_end_and_each_hit_can_be_looked_up(url: str, key: str) -> None:
    with Client(url, key=key) as client:
        hits = list(client.search("soy milk", limit=50))
        total = client._run(client._calls.get("/index/search", {"q": "soy milk"}))["total"]["value"]
        assert len(hits) == len({hit["iid"] for hit in hits}) == total > 100
        assert client.lookup(hits[0]["iid"])["name"] == hits[0]["name"]
        entries = client.lookup_many([hit["iid"] for hit in hits[:20]])
        assert [entry["iid"] for entry in entries] == [hit["iid"] for hit in hits[:20]]
        [own, none] = client.resolve_many([{"sku": "P000000425", "source": "hk_pricewatch"}, {"gtin": "4006381333931"}])
        assert (own["status"], none["status"]) == (200, 404)
        with pytest.raises(NotFound) as raised:
            client.lookup("IID-00000-00000-00000")
        assert raised.value.request_id


def test_a_report_is_waited_for_and_becomes_a_table(url: str, key: str) -> None:
    with Client(url, key=key) as client:
        call = client.report.cohorts(brand="vitasoy", granularity="week")
        assert call.cost()["cost_units"] > 0
        report = call.wait()
        assert len(report) == report.meta["rows"] > 0
        assert report.to_pandas().shape[0] == report.to_polars().height == report.to_arrow().num_rows == len(report)
        assert report.to_pandas().p50.dtype == "float64" and report.to_polars()["period"].dtype == polars.Date
        assert [str(one) for one in report.to_pandas(exact=True).p50] == [row["p50"] for row in report.rows]


def test_every_report_becomes_a_table(url: str, key: str) -> None:
    with Client(url, key=key) as client:
        [hit, *_] = client.search("soy milk", limit=1)
        reports: list[Report[Any]] = [
            client.report.category_insights().wait(),
            client.report.brand_insights("vitasoy", group_by="channel").wait(),
            client.report.price_index(brand="vitasoy", granularity="week").wait(),
            client.report.reductions().wait(),
            client.report.sustainability_rollup(displacement="resale").wait(),
            client.prices(hit["iid"]),
            client.prior_price(hit["iid"]),
            client.sustainability(hit["iid"]),
        ]
    for report in reports:
        described = set(report.row_type.__annotations__)
        assert all(set(row) <= described for row in report.rows), report.row_type
        assert report.to_pandas().shape[0] == report.to_polars().height == len(report)


def test_the_notebook_runs(url: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITEMINDEX_URL", url)
    monkeypatch.setenv("ITEMINDEX_KEY", key)
    mpl.use("agg")
    cells = json.loads((PACKAGE / "examples/report.ipynb").read_text())["cells"]
    values: dict[str, Any] = {}
    for number, source in enumerate(cell["source"] for cell in cells if cell["cell_type"] == "code"):
        exec(compile(source, f"cell {number}", "exec"), values)
    values["client"].close()
    lines = {line.get_label(): len(line.get_ydata()) for line in values["axes"].get_lines()}
    assert lines["index"] == len(values["index"]) > 1 and len(values["prices"]) > 1


def test_the_packages_install_from_the_service(stack: Running, url: str, tmp_path: Path) -> None:
    listed = httpx.get(f"{url}/clients/").json()["data"]
    assert [entry["url"].startswith(url) for entry in listed] == [True, True]
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path, listed[0]["url"]]
    subprocess.run(command, check=True, timeout=120)
    said = subprocess.run(
        [sys.executable, "-c", "import itemindex_client; print(itemindex_client.__file__)"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(tmp_path) in said


def test_a_release_is_downloaded_and_opens_in_duckdb(stack: Running, url: str, key: str, tmp_path: Path) -> None:
    stack.ctl("releases", "cut", "--wait")
    with Client(url, key=key) as client:
        release = client.release("brands")
        folder = release.download(tmp_path)
        assert release.download(tmp_path) == folder
    [row] = duckdb.sql(f"SELECT count(*) FROM '{folder}/*.parquet'").fetchall()
    assert row == (release.manifest["rows"],)


async def test_the_asynchronous_client_reads_the_same(url: str, key: str) -> None:
    async with AsyncClient(url, key=key) as client:
        names = [brand["name"] async for brand in client.brands(q="vita", limit=5)]
        assert names
        assert (await client.quota())["plan"] == "institutional"


def test_the_command_prints_tables_and_json(url: str, key: str) -> None:
    def ixc(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "ITEMINDEX_URL": url, "ITEMINDEX_KEY": key}
        command = [sys.executable, "-m", "itemindex_client.cli", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=environment).stdout

    [hit, *_] = json.loads(ixc("search", "soy milk", "--limit", "3", "--json"))
    assert hit["iid"] in ixc("search", "soy milk", "--limit", "3")
    assert hit["name"] in ixc("lookup", hit["iid"])
    assert json.loads(ixc("report", "cohorts", "brand=vitasoy", "--json"))["meta"]["data_version"] >= 1


def test_the_client_for_typescript_reads_orders_and_downloads(
    stack: Running, url: str, key: str, tmp_path: Path
) -> None:
    stack.ctl("releases", "cut", "--wait")
    script = Path(__file__).with_name("typescript_client.mjs")
    got = json.loads(node(script, tmp_path, ITEMINDEX_URL=url, ITEMINDEX_KEY=key))
    with Client(url, key=key) as client:
        assert got["hits"] == [hit["iid"] for hit in client.search("soy milk", limit=50)]
    assert got["entries"] == got["hits"][:20] and got["same"] == got["item"] == got["hits"][0]
    assert got["missing"] and got["plan"] == "institutional" and got["cost"] > 0 and got["steps"][-1] == 1
    assert got["rows"][0] == got["rows"][1] > 0 and got["exported"][0] == got["exported"][1] > 0
    [row] = duckdb.sql(f"SELECT count(*) FROM '{got['folder']}/*.parquet'").fetchall()
    assert row == (got["release"],)
