"""Exports onto a disk, and reports that are lists: each is whole, or says why not."""

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from itemindex_client import AsyncClient, Client
from itemindex_client.calls import PAGE_ENTRIES_MAX
from itemindex_client.cli import main

from tests.unit.clients.answering import URL, Handler, client, job

DOCUMENT = json.loads((Path(__file__).parents[3] / "docs/openapi/v1.json").read_text())


def exporting(name: str, content: bytes) -> tuple[Handler, list[httpx.Request]]:
    """Return answers to the order of an export of one file, and the requests that came."""
    sha256 = hashlib.sha256(content).hexdigest()
    file = {"name": name, "url": f"{URL}/f", "signed_url": "secret", "bytes": len(content), "sha256": sha256}
    exported = {"dataset": "items", "all_months": True, "months": [], "rows": 0, "files": [file]}
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if request.method == "GET":
            return httpx.Response(200, content=content)
        return httpx.Response(202, json=job("succeeded", 1.0, manifest=exported))

    return handler, sent


@pytest.mark.parametrize("content", [b"", b"iid\n"])
def test_an_export_is_downloaded_with_its_manifest_also_without_a_byte(
    content: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handler, _ = exporting("items-00001.ndjson", content)
    monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(handler))
    folder = tmp_path / "out"
    main(["export", "items", "--format", "ndjson", "--to", str(folder)])
    assert capsys.readouterr().out == f"{folder / 'items-00001.ndjson'}\n"
    assert sorted(path.name for path in folder.iterdir()) == ["items-00001.ndjson", "manifest.json"]
    assert (folder / "items-00001.ndjson").read_bytes() == content
    kept = json.loads((folder / "manifest.json").read_text())
    assert kept["all_months"] and "signed_url" not in kept["files"][0]


def test_a_folder_has_one_export_and_another_one_is_not_even_ordered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    handler, sent = exporting("items-00001.csv", b"iid\n")
    monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(handler))
    main(["export", "items", "--to", str(tmp_path)])
    ordered = len(sent)
    with pytest.raises(SystemExit, match="is not an empty folder: name a new one for each export"):
        main(["export", "items", "--to", str(tmp_path)])
    with pytest.raises(SystemExit, match="is not an empty folder"):
        main(["export", "items", "--to", str(tmp_path / "manifest.json")])
    assert len(sent) == ordered


class Brands:
    """Answers a list of brands in pages, two rows for each; from the request `changes_at` on the data is newer."""

    def __init__(self, count: int, *, as_job: bool = False, changes_at: int | None = None) -> None:
        self.names = [f"b{number}" for number in range(count)]
        self.as_job = as_job
        self.changes_at = changes_at
        self.asked: list[dict[str, str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.startswith("/v1/jobs/"):
            return httpx.Response(200, json=self._page(self._limit, 0, with_cursor=False))
        self.asked.append(dict(request.url.params))
        self._limit = int(request.url.params.get("limit", "50"))
        if self.as_job and len(self.asked) == 1:
            return httpx.Response(202, json=job("succeeded", 1.0))
        return httpx.Response(200, json=self._page(self._limit, int(request.url.params.get("cursor", "0"))))

    def _page(self, limit: int, start: int, *, with_cursor: bool = True) -> dict[str, Any]:
        version = 1 if self.changes_at is None or len(self.asked) < self.changes_at else 2
        rows = [{"brand": f"{name}@{version}"} for name in self.names[start : start + limit] for _ in range(2)]
        more = str(start + limit) if start + limit < len(self.names) else None
        meta = {"data_version": version, "rows": len(rows), "total": len(self.names), "cost_units": 10, "cached": False}
        cursor = {"next_cursor": more} if with_cursor else {}
        return {"data": rows, "meta": {**meta, **cursor, "result_sha256": "page"}}


def twice(names: list[str], version: int) -> list[str]:
    return [f"{name}@{version}" for name in names for _ in range(2)]


@pytest.mark.parametrize(("as_job", "units"), [(False, 30), (True, 40)])
def test_a_report_that_is_a_list_is_read_to_its_end(as_job: bool, units: int) -> None:
    brands = Brands(1_100, as_job=as_job)
    report = client(brands).report.brand_insights().wait()
    assert [row["brand"] for row in report.rows] == twice(brands.names, 1)
    assert (report.meta["rows"], report.meta["total"], report.meta["next_cursor"]) == (2_200, 1_100, None)
    assert report.meta["cost_units"] == units and "result_sha256" not in report.meta
    assert {one["limit"] for one in brands.asked} == {str(PAGE_ENTRIES_MAX)}


def test_a_list_that_fits_in_a_page_keeps_its_meta() -> None:
    for as_job in (False, True):
        brands = Brands(50, as_job=as_job)
        report = client(brands).report.brand_insights().wait()
        assert report.meta["result_sha256"] == "page" and len(report.rows) == 100 and len(brands.asked) == 1


def test_a_limit_asks_for_one_page() -> None:
    brands = Brands(762)
    report = client(brands).report.brand_insights(limit=10).wait()
    assert len(report.rows) == 20 and report.meta["next_cursor"] == "10" and len(brands.asked) == 1


def test_pages_of_two_states_of_the_data_are_not_joined() -> None:
    brands = Brands(762, changes_at=2)
    report = client(brands).report.brand_insights().wait()
    assert [row["brand"] for row in report.rows] == twice(brands.names, 2)
    assert report.meta["cost_units"] == 40
    assert [one.get("cursor") for one in brands.asked] == [None, "500", None, "500"]


async def test_the_asynchronous_client_reads_a_list_to_its_end_too() -> None:
    brands = Brands(762)
    async with AsyncClient(URL, key="k", http=httpx.AsyncClient(transport=httpx.MockTransport(brands))) as caller:
        assert len((await caller.report.brand_insights().wait()).rows) == 2 * 762


def test_the_command_prints_the_whole_list(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(Brands(762)))
    main(["report", "brand-insights", "--json"])
    assert len(json.loads(capsys.readouterr().out)["data"]) == 2 * 762


def test_the_price_of_a_list_is_that_of_the_page_that_is_ordered() -> None:
    brands = Brands(3)
    caller: Client = client(brands)
    caller.report.category_insights().cost()
    assert brands.asked[0] == {"limit": str(PAGE_ENTRIES_MAX), "dry_run": "true"}


def test_a_page_has_as_many_entries_as_the_document_allows() -> None:
    for path in ("/v1/index/insights/brands", "/v1/index/insights/categories"):
        [limit] = [one for one in DOCUMENT["paths"][path]["get"]["parameters"] if one.get("name") == "limit"]
        assert limit["schema"]["maximum"] == PAGE_ENTRIES_MAX, path
