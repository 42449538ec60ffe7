"""The Python client without a service: what it sends, how it waits, what it makes of answers and releases."""

import ast
import functools
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import matplotlib as mpl
import polars
import pyarrow
import pytest
from itemindex_client import (
    ApiProblem,
    AsyncClient,
    Client,
    ConnectionFailed,
    DownloadFailed,
    Gone,
    InsufficientPlan,
    JobFailed,
    KeyNeeded,
    NotFound,
    RateLimited,
    Report,
    SeveralCandidates,
    UnknownArgument,
    Withdrawn,
    schemas,
)
from itemindex_client.aio import AsyncRelease
from itemindex_client.cli import main
from itemindex_client.client import Release
from itemindex_client.orders import ReportCall

from edge.docs.files import python_sample as python
from edge.docs.files import samples
from edge.docs.files import typescript_sample as typescript
from shared.bulk.schema import ReleaseFile
from shared.bulk.signing import SigningKey, new_key, public_jwk, statement
from tests.support.node import node
from tests.unit.clients.answering import URL, answers, client, job, manifest, problem

# The Python client without a service: what it sends, what it waits for, what it makes of refusals.


PACKAGE = Path(__file__).parents[3] / "deploy/clients/python"


@pytest.mark.parametrize(
    ("status", "slug", "kind"),
    [
        (300, "identifier-ambiguous", SeveralCandidates),
        (404, "iid-not-found", NotFound),
        (410, "iid-withdrawn", Withdrawn),
        (410, "result-expired", Gone),
        (403, "insufficient-plan", InsufficientPlan),
        (400, "invalid-iid", ApiProblem),
    ],
)
def test_a_problem_is_an_exception_of_its_kind(status: int, slug: str, kind: type[ApiProblem]) -> None:
    with pytest.raises(kind) as raised:
        client(answers(problem(status, slug, candidates=[{"iid": "a"}]))).lookup("x")
    assert type(raised.value) is kind
    assert (raised.value.slug, raised.value.status, raised.value.request_id) == (slug, status, "abcdefgh")
    if isinstance(raised.value, SeveralCandidates):
        assert raised.value.candidates == [{"iid": "a"}]


def test_a_page_in_the_place_of_a_document_is_said_not_to_be_one() -> None:
    page = answers(httpx.Response(200, text="<html>Sign in"))
    with pytest.raises(ConnectionFailed, match="other than JSON"):
        client(page).lookup("x")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://service", "http://service/v1"),
        ("https://service:8443/", "https://service:8443/v1"),
        ("http://service/items", "http://service/items"),
    ],
)
def test_the_address_of_a_server_alone_is_that_of_the_api_below_v1(url: str, address: str) -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200, json={})

    Client(url, key="k", http=httpx.Client(transport=httpx.MockTransport(handler))).lookup("x")
    assert seen == [f"{address}/index/lookup/x"]


def test_an_answer_that_is_no_problem_document_is_described_by_its_status() -> None:
    with pytest.raises(ApiProblem, match="answered 418"):
        client(answers(httpx.Response(418, text="<html>"))).lookup("x")


def test_a_call_that_needs_a_key_is_not_sent_without_one() -> None:
    def never(request: httpx.Request) -> httpx.Response:
        raise AssertionError("it was sent")

    caller = client(never, key=None)
    for call in (
        lambda: caller.prices("x"),
        lambda: caller.report.cohorts(brand="b").wait(),
        lambda: caller.release("items"),
        lambda: caller.export(dataset="items"),
        lambda: next(caller.jobs()),
    ):
        with pytest.raises(KeyNeeded, match="ITEMINDEX_KEY"):
            call()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda one: one.report.cohorts(brandd="x"), "`brandd`; did you mean `brand`?"),
        (lambda one: one.report.brand_insights("x", sort="brand"), "`sort`"),
        (lambda one: one.search("x", nosuch=1), "there are limit, brand, category"),
        (lambda one: one.resolve(gtn="1"), "did you mean `gtin`?"),
        (lambda one: one.prices("x", chanel="w"), "did you mean `channel`?"),
        (lambda one: one.events(afterr=1), "did you mean `after`?"),
        (lambda one: one.export(dataset="items", formatt="csv"), "did you mean `format`?"),
    ],
)
def test_an_argument_that_the_api_lacks_is_refused_before_a_call(
    call: Callable[[Client], object], sentence: str
) -> None:
    with pytest.raises(UnknownArgument, match=re.escape(sentence)) as raised:
        call(client(answers()))
    assert isinstance(raised.value, TypeError)


def test_free_calls_take_the_public_token_and_paid_ones_the_key() -> None:
    seen: list[httpx.Headers] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(200, json={"iid": "x"})

    client(handler, key=None).lookup("x")
    client(handler).lookup("x")
    assert seen[0]["X-Service-Public-Token"].startswith("iixp_anon_") and "Authorization" not in seen[0]
    assert seen[1]["Authorization"] == "ApiKey iixk_live_x" and "X-Service-Public-Token" not in seen[1]


def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITEMINDEX_KEY", "iixk_live_secret")
    made = Client(URL)
    assert made._calls.credentials.key == "iixk_live_secret"
    assert "secret" not in repr(made._calls)
    made.close()


def test_a_refusal_that_passes_is_waited_for_as_the_service_says(slept: list[float]) -> None:
    found = client(answers(problem(429, "rate-limited", retry_after=7), httpx.Response(200, json={"iid": "x"})))
    assert found.lookup("x")["iid"] == "x"
    assert slept == [7.0]


def test_a_refusal_until_midnight_is_raised_at_once(slept: list[float]) -> None:
    with pytest.raises(RateLimited) as raised:
        client(answers(problem(429, "rate-limited", retry_after=40_000))).lookup("x")
    assert (raised.value.retry_after, slept) == (40_000, [])


def test_a_lost_connection_is_tried_again(slept: list[float]) -> None:
    lost = httpx.ConnectError("refused")
    assert client(answers(lost, lost, httpx.Response(200, json={"iid": "x"}))).lookup("x")["iid"] == "x"
    assert len(slept) == 2 and slept[1] > slept[0]


def test_a_batch_is_tried_again_too_as_it_changes_nothing(slept: list[float]) -> None:
    dropped = httpx.RemoteProtocolError("Server disconnected without sending a response.")
    entries = httpx.Response(200, json={"data": [{"iid": "x"}]})
    assert client(answers(dropped, entries)).lookup_many(["x"]) == [{"iid": "x"}]
    assert client(answers(dropped, entries)).resolve_many([{"gtin": "1"}]) == [{"iid": "x"}]
    assert len(slept) == 2
    with pytest.raises(ConnectionFailed, match="disconnected"):
        client(answers(dropped), max_wait=0).lookup_many(["x"])


def test_a_search_requests_its_pages_as_they_are_read() -> None:
    asked: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        cursor = request.url.params.get("cursor")
        asked.append(cursor)
        number = int(cursor or 0)
        more = str(number + 1) if number < 2 else None
        return httpx.Response(200, json={"data": [{"iid": f"{number}a"}, {"iid": f"{number}b"}], "next_cursor": more})

    hits = client(handler).search("soy milk", brand="vitasoy")
    assert next(hits)["iid"] == "0a" and asked == [None]
    assert [hit["iid"] for hit in hits] == ["0b", "1a", "1b", "2a", "2b"]
    assert asked == [None, "1", "2"]


def test_a_report_that_becomes_a_job_is_followed_to_its_rows(slept: list[float]) -> None:
    reported: list[tuple[float, str]] = []
    rows = {"data": [{"period": "2026-07-01", "mean": "1.50"}], "meta": {"rows": 1}}
    handler = answers(
        httpx.Response(202, json=job("queued", 0.0)),
        httpx.Response(200, json=job("running")),
        httpx.Response(200, json=job("succeeded", 1.0)),
        httpx.Response(200, json=rows),
    )
    report = client(handler).report.cohorts(from_="2026-07-01").wait(progress=lambda *step: reported.append(step))
    assert (report.rows, report.meta) == (rows["data"], rows["meta"])
    assert reported == [(0.0, "reading"), (0.5, "reading"), (1.0, "done")]
    assert report.to_arrow().column_names == list(report.to_pandas().columns) == ["period", "mean"]


def test_an_export_is_followed_at_its_own_address_to_its_manifest(slept: list[float]) -> None:
    requested: list[tuple[str, str]] = []
    following = answers(
        httpx.Response(202, json=job("queued", 0.0)),
        httpx.Response(200, json=job("running")),
        httpx.Response(200, json=job("succeeded", 1.0, manifest={"files": []})),
    )

    def handler(request: httpx.Request) -> httpx.Response:
        requested.append((request.method, request.url.path))
        return following(request)

    assert client(handler).export(dataset="items")["manifest"] == {"files": []}
    follow = ("GET", "/v1/index/exports/j")
    assert requested == [("POST", "/v1/index/exports"), follow, follow]


def test_a_job_that_fails_says_why(slept: list[float]) -> None:
    failed = job("failed", error={"detail": "It took too long."})
    with pytest.raises(JobFailed, match="It took too long"):
        client(answers(httpx.Response(202, json=failed))).report.price_index(brand="b").wait()


def test_a_word_of_python_is_a_parameter_with_an_underscore() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url.params))
        return httpx.Response(200, json={"data": [], "meta": {}})

    client(handler).prices("IID-1", from_="2026-07-01", to="2026-07-02", channel=None)
    assert asked == ["from=2026-07-01&to=2026-07-02"]


def test_events_are_read_after_the_cursor_of_the_page_before() -> None:
    asked: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params.get("after"))
        following = "999999999999999999" if asked == ["7"] else None
        return httpx.Response(200, json={"data": [{"cursor": "8"}], "next_cursor": following})

    assert len(list(client(handler).events(after="7"))) == 2
    assert asked == ["7", "999999999999999999"]


def test_an_export_is_ordered_once_however_often_its_order_is_sent(slept: list[float]) -> None:
    names: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        names.append(request.headers["Idempotency-Key"])
        if len(names) == 1:
            raise httpx.ReadError("lost")
        if len(names) == 2:  # the first one still runs
            return problem(409, "idempotency-in-progress")
        return httpx.Response(202, json=job("succeeded", 1.0, manifest={"files": []}))

    assert client(handler).export(dataset="items")["manifest"] == {"files": []}
    assert len(names) == 3 and len(set(names)) == 1 and len(names[0]) > 30


def test_retry_after_may_be_a_date_and_is_part_of_the_error() -> None:
    at = datetime.now(UTC) + timedelta(hours=9)
    refused = httpx.Response(429, json={"detail": "d"}, headers={"Retry-After": format_datetime(at, usegmt=True)})
    with pytest.raises(RateLimited) as raised:
        client(answers(refused)).lookup("x")
    assert raised.value.retry_after == pytest.approx(9 * 3_600, abs=60)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("report", "cohorts", "brand=b"), "needs an API key"),
        (("report", "cohorts", "brand"), "write name=value"),
        (("report", "nonsense"), "invalid choice"),
        (("search", "milk", "--json", "brand"), "unrecognized arguments: brand"),
        (("search", "milk", "--limit", "-1"), "must be 1 or more, not '-1'"),
        (("report", "cohorts", "brandd=b"), "did you mean `brand`?"),
        (("fetch", "items"), "needs an API key"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(
    arguments: tuple[str, ...],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ITEMINDEX_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert ended.value.code == 2 or isinstance(ended.value.code, str)  # a text ends the process with 1
    assert sentence in capsys.readouterr().err + str(ended.value.code)


def test_the_help_of_a_report_lists_its_parameters_with_what_they_allow(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*arguments: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            main([*arguments])
        return capsys.readouterr().out

    said = " ".join(shown("report", "price-index", "--help").split())
    for line in (
        "from First day",
        "one of day, week, month, quarter, year",
        "default: geks-jevons",
        "up to 100 values",
    ):
        assert line in said
    assert "Only this one; default: all" in shown("report", "brand_insights", "--help")
    assert shown("--version").startswith("ixc 1.")


def test_a_parameter_that_is_named_twice_has_both_values_and_no_rows_are_said_to_cost_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ordered: list[dict[str, object]] = []

    def wait(call: ReportCall[Any, Client], progress: object) -> Report[Any]:
        ordered.append(call._query)
        return Report([], {"cost_units": 0}, dict)

    monkeypatch.setattr(ReportCall, "wait", wait)
    main(["report", "cohorts", "brand=a", "brand=b", "granularity=week"])
    assert ordered == [{"brand": ["a", "b"], "granularity": "week"}]
    assert capsys.readouterr().err == "No rows match; the report cost 0 units.\n"


def test_a_name_may_have_hyphens_and_values_may_follow_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    def wait(call: ReportCall[Any, Client], progress: object) -> Report[Any]:
        asked.append((call._path, call._query))
        return Report([], {"cost_units": 0}, dict)

    monkeypatch.setattr(ReportCall, "wait", wait)
    for name in ("price-index", "price_index"):
        main(["report", name, "--json", "brand=a"])
    main(["report", "cohorts", "brand=a", "group-by=channel"])
    assert asked == [("/index/prices/index", {"brand": "a"})] * 2 + [
        ("/index/cohorts", {"brand": "a", "group_by": "channel"})
    ]


def test_a_search_on_the_command_line_takes_filters_and_pages_of_a_size_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url.params))
        return httpx.Response(200, json={"data": [], "next_cursor": None})

    monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(handler))
    main(["search", "milk", "--limit", "80", "brand=vitasoy"])
    assert asked == ["q=milk&limit=50&brand=vitasoy"]


def test_what_the_machine_refuses_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "items" / "3" / "manifest.json").mkdir(parents=True)
    release = answers(httpx.Response(200, json=manifest()))
    monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(release))
    with pytest.raises(SystemExit, match=r"^ixc: .*Is a directory"):
        main(["fetch", "items", "--to", str(tmp_path)])


@pytest.mark.parametrize("name", ["prices.csv", "items_changes-00001.csv.gz", "../prices.csv"])
def test_an_export_on_the_command_line_is_filtered_and_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    content = b"name\n"
    file = {"name": name, "url": f"{URL}/f", "bytes": 5, "sha256": hashlib.sha256(content).hexdigest()}
    orders: list[dict[str, object]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, content=content)
        orders.append(json.loads(request.content))
        return httpx.Response(202, json=job("succeeded", 1.0, manifest={"files": [file]}))

    monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(handler))
    command = ["export", "observations", "brand=a", "from=2026-07-01", "--since", "12", "--to", str(tmp_path / "out")]
    if name.startswith("."):
        with pytest.raises(SystemExit, match="is not the name of an export's file"):
            main(command)
        assert list(tmp_path.iterdir()) == []
        return
    main(command)
    wanted = {"brand": ["a"], "from": "2026-07-01"}
    assert orders == [{"dataset": "observations", "format": "csv", "filter": wanted, "since": 12}]
    assert (tmp_path / "out" / name).read_bytes() == content


def strictly(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", os.devnull]
    # Reading all of Polars and pandas would be four fifths of the work, for the functions that return their frames.
    alone = ["--no-site-packages", "--ignore-missing-imports", *arguments]
    return subprocess.run(
        [*command, *alone], cwd=PACKAGE, capture_output=True, text=True, env={**os.environ, **environment}
    ).stdout


CALLS = """
from datetime import date
from itemindex_client import AsyncClient, Client
client = Client()
client.report.cohorts(brand="x", from_=date(2026, 7, 1), granularity="week", group_by=["brand"])
client.report.cohorts(brandd="x")  # refused
client.report.cohorts(granularity="wek")  # refused
client.report.brand_insights("x", group_by="channel")
client.report.brand_insights("x", sort="brand")  # refused
client.search("x", limit=5)
client.search("x", nosuch=1)  # refused
client.export(dataset="items", format="csv")
client.export(format="csv")  # refused
for row in client.report.cohorts(brand="x").wait().rows:
    print((row["p50"] or "").upper(), row["items"] + 1)
    print(row["p51"])  # refused
for hit in client.search("x"):
    print(hit["name"].upper())
    print(hit["nam"])  # refused
for price in client.prices("x", channel=["w"]).rows:
    print(price["median"].upper())
for event in client.events(after="1"):
    print(event["type"])

async def awaited(client: AsyncClient) -> None:
    for row in (await client.report.price_index(brand="x").wait()).rows:
        print(row["index"])
    await client.report.price_index(brandd="x").wait()  # refused
    async for hit in client.search("x"):
        print(hit["iid"])
"""


def test_the_package_is_typed_throughout_and_refuses_what_the_document_lacks(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLS)
    said = strictly("-p", "itemindex_client", "-m", "caller", MYPYPATH=str(tmp_path))
    refused = [number for number, line in enumerate(CALLS.splitlines(), 1) if line.endswith("# refused")]
    assert [int(number) for number in re.findall(r"caller.py:(\d+): error", said)] == refused, said
    assert f"Found {len(refused)} errors in 1 file" in said


FAULTS = [
    {"parameter": "brand", "detail": "is not a known brand; see /v1/index/brands", "value": "nosuch"},
    {"parameter": "granularity", "detail": "must be one of day, week, month"},
]


def test_a_refusal_carries_its_faults_and_its_text_has_each_of_them_once() -> None:
    detail = "`brand`: `nosuch` is not a known brand; see /v1/index/brands."
    refused = problem(400, "invalid-parameter", detail=detail, errors=FAULTS)
    with pytest.raises(ApiProblem) as raised:
        client(answers(refused)).report.cohorts(brand="nosuch").wait()
    assert raised.value.errors == FAULTS
    assert str(raised.value).count("is not a known brand") == 1
    assert "`granularity`: must be one of day, week, month" in str(raised.value)


def test_a_job_that_the_data_refused_carries_its_faults_too() -> None:
    failed = job("failed", error={"detail": "d", "errors": FAULTS})
    with pytest.raises(JobFailed, match="granularity") as raised:
        client(answers(httpx.Response(202, json=failed))).report.price_index(brand="b").wait()
    assert raised.value.errors == FAULTS


# The Python client without a service: releases onto the disk, and the asynchronous client beside the other.


def test_names_of_a_manifest_never_lead_out_of_the_folder(tmp_path: Path) -> None:
    for name, dataset in (("../../etc/x.parquet", "items"), ("a.parquet", "../up")):
        file = {"name": name, "url": f"{URL}/f", "bytes": 1, "sha256": "0"}
        caller = client(answers(httpx.Response(200, json=manifest(file, dataset=dataset))))
        with pytest.raises(DownloadFailed, match="no names of a release"):
            caller.release("items").download(tmp_path / "to")
    assert list(tmp_path.iterdir()) == []


def test_a_download_continues_and_is_checked(tmp_path: Path, slept: list[float]) -> None:
    body = bytes(range(256)) * 40
    file = {
        "name": "a-1.parquet",
        "url": f"{URL}/f",
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "signed_url": "http://secret",
    }
    ranges: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("latest"):
            return httpx.Response(200, json=manifest(file))
        wanted = request.headers.get("Range")
        ranges.append(wanted)
        if len(ranges) == 1:
            raise httpx.ReadError("cut")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        return httpx.Response(206 if wanted else 200, content=body[start:])

    folder = tmp_path / "items" / "3"
    folder.mkdir(parents=True)
    (folder / "a-1.parquet.part").write_bytes(body[:1000])
    assert client(handler).release("items").download(tmp_path) == folder
    assert (folder / "a-1.parquet").read_bytes() == body
    assert ranges == ["bytes=1000-", "bytes=1000-"]
    assert "secret" not in (folder / "manifest.json").read_text()


def test_a_download_that_is_cut_again_and_again_ends_as_long_as_it_comes_further(
    tmp_path: Path, slept: list[float]
) -> None:
    body = bytes(range(250)) * 4
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": 1000, "sha256": hashlib.sha256(body).hexdigest()}
    ranges: list[str | None] = []

    class Cut(httpx.SyncByteStream):
        def __init__(self, start: int) -> None:
            self.start = start

        def __iter__(self) -> Iterator[bytes]:
            yield body[self.start : self.start + 100]
            if self.start < 900:
                raise httpx.ReadError("cut")

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("latest"):
            return httpx.Response(200, json=manifest(file))
        ranges.append(wanted := request.headers.get("Range"))
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        return httpx.Response(206 if wanted else 200, stream=Cut(start))

    folder = client(handler).release("items").download(tmp_path)
    assert (folder / "a.parquet").read_bytes() == body
    assert ranges == [None, *(f"bytes={start}-" for start in range(100, 1000, 100))]


def signed_mirror(folder: Path) -> tuple[Path, Path]:
    """Return the folder of a signed release with two files, and the file of the keys."""
    (folder / "key.pem").write_bytes(new_key())
    key = SigningKey.read(folder / "key.pem")
    bodies = {"a-0.parquet": b"first", "b-0.parquet": b"second"}
    files = [
        ReleaseFile(name, hashlib.sha256(body).hexdigest(), 1, len(body), "é", "\u2028", {})
        for name, body in bodies.items()
    ]
    schema = [{"name": "iid", "type": "string", "nullable": False, "description": "Größe"}]
    text = statement("items", schema, 3, datetime(2026, 7, 1, tzinfo=UTC), files)
    mirror = folder / "items" / "3"
    mirror.mkdir(parents=True)
    for name, body in bodies.items():
        (mirror / name).write_bytes(body)
    document = {**json.loads(text), "signature": key.sign(text), "expires_at": "2027", "links": {}}
    (mirror / "manifest.json").write_text(json.dumps(document))
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": [public_jwk("other", "A" * 43), public_jwk(key.id, key.public)]}))
    return mirror, keys


def test_a_mirror_is_verified_without_the_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mirror, keys = signed_mirror(tmp_path)
    main(["--url", "http://unreachable.invalid/v1", "verify", str(mirror), "--keys", str(keys)])
    assert capsys.readouterr().out == "items 3: signature and 2 files are as published\n"


def test_a_reader_that_has_enough_is_no_fault(tmp_path: Path) -> None:
    mirror, keys = signed_mirror(tmp_path)
    command = [sys.executable, "-m", "itemindex_client.cli", "verify", mirror, "--keys", keys]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.stderr, done.returncode) == ("", 1)


def edited(path: Path, change: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda m, k: (m / "a-0.parquet").write_bytes(b"firsT"), "a-0.parquet was changed: its SHA-256 is not"),
        (lambda m, k: (m / "a-0.parquet").write_bytes(b"firs"), "a-0.parquet was changed: it has 4 bytes"),
        (lambda m, k: (m / "b-0.parquet").unlink(), "b-0.parquet is missing"),
        (lambda m, k: (m / "c-0.parquet").write_bytes(b"x"), "c-0.parquet is not named by the manifest"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d.update(rows=9)), "the manifest was changed"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d["files"][0].update(rows=9)), "the manifest was changed"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d.update(signature=None)), "has no signature"),
        (lambda m, k: edited(m / "manifest.json", lambda d: d.pop("rows")), "has no member 'rows'"),
        (lambda m, k: (m / "manifest.json").write_text("[]"), "is not a manifest"),
        (lambda m, k: (m / "manifest.json").write_text("{"), "is not JSON"),
        (lambda m, k: (m / "manifest.json").unlink(), "name the folder of one release"),
        (lambda m, k: edited(k, lambda d: d["keys"].pop()), "which is not one of the given keys"),
        (lambda m, k: edited(k, lambda d: d["keys"][1].update(x="B" * 43)), "does not belong to it"),
        (lambda m, k: k.write_text("{}"), "has no member 'keys'"),
        (lambda m, k: k.unlink(), "save the service's /.well-known/release-keys.json there"),
    ],
)
def test_what_is_not_as_published_is_said_and_ends_with_one(
    tmp_path: Path, damage: Callable[[Path, Path], object], sentence: str
) -> None:
    mirror, keys = signed_mirror(tmp_path)
    damage(mirror, keys)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(mirror), "--keys", str(keys)])
    assert isinstance(ended.value.code, str) and sentence in ended.value.code  # a text ends the process with 1


async def test_the_asynchronous_client_does_the_same() -> None:
    pages = answers(
        httpx.Response(200, json={"data": [{"iid": "a"}], "next_cursor": "1"}),
        httpx.Response(200, json={"data": [{"iid": "b"}], "next_cursor": None}),
    )
    async with AsyncClient(URL, http=httpx.AsyncClient(transport=httpx.MockTransport(pages))) as caller:
        assert [hit["iid"] async for hit in caller.search("soy")] == ["a", "b"]
        with pytest.raises(KeyNeeded):
            await caller.report.cohorts(brand="b").wait()


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    for one, other in ((Client, AsyncClient), (Release, AsyncRelease)):
        named = {name: inspect.signature(call) for name, call in vars(one).items() if inspect.isfunction(call)}
        public = {name for name in named if not name.startswith("_")}
        assert public and public == {
            name for name, call in vars(other).items() if inspect.isfunction(call) and not name.startswith("_")
        }
        for name in public:
            assert named[name].parameters == inspect.signature(vars(other)[name]).parameters, name


async def test_the_asynchronous_client_follows_reports_and_downloads_releases(tmp_path: Path) -> None:
    body = b"PAR1" * 100
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    rows = {"data": [{"median": "1.50"}], "meta": {"rows": 1}}

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/f"):
            return httpx.Response(200, content=body)
        if request.url.path.endswith("/latest"):
            return httpx.Response(200, json=manifest(file))
        return httpx.Response(200, json={"cost_units": 10} if "dry_run" in request.url.params else rows)

    async with AsyncClient(URL, key="k", http=httpx.AsyncClient(transport=httpx.MockTransport(handler))) as caller:
        call = caller.report.brand_insights("vita/soy")
        assert (await call.cost())["cost_units"] == 10
        assert (await call.wait()).rows == rows["data"]
        folder = await (await caller.release("items")).download(tmp_path)
    assert (folder / "a.parquet").read_bytes() == body


def test_the_key_is_sent_to_no_other_server(tmp_path: Path) -> None:
    body = b"PAR1"
    signed = "http://elsewhere/f?signature=s"
    file = {"name": "a.parquet", "url": "http://elsewhere/f", "signed_url": signed, "bytes": len(body)}
    sent: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if request.url.host == "elsewhere":
            return httpx.Response(200, content=body)
        return httpx.Response(200, json=manifest({**file, "sha256": hashlib.sha256(body).hexdigest()}))

    client(handler).release("items").download(tmp_path)
    assert [(str(one.url), one.headers.get("Authorization")) for one in sent[1:]] == [(signed, None)]


def test_bytes_of_a_wrong_file_are_taken_back_from_the_progress(tmp_path: Path, slept: list[float]) -> None:
    body = bytes(range(250))
    file = {"name": "a.parquet", "url": f"{URL}/f", "bytes": 250, "sha256": hashlib.sha256(body).hexdigest()}
    folder = tmp_path / "items" / "3"
    folder.mkdir(parents=True)
    for before in (b"x" * 250, b"x" * 300, b"x" * 100, b""):
        (folder / "a.parquet").unlink(missing_ok=True)
        (folder / "a.parquet.part").write_bytes(before)
        reported: list[int] = []
        conditions: list[str | None] = []

        def handler(request: httpx.Request, conditions: list[str | None] = conditions) -> httpx.Response:
            if request.url.path.endswith("latest"):
                return httpx.Response(200, json=manifest(file))
            conditions.append(request.headers.get("If-Range"))
            return httpx.Response(200, content=body)  # another file by now, so that the whole of it comes

        client(handler).release("items").download(tmp_path, progress=reported.append)
        assert (folder / "a.parquet").read_bytes() == body
        assert sum(reported) == 250
        assert conditions == [f'"sha256-{file["sha256"]}"' if len(before) == 100 else None]


# Reports as tables: the types of columns are those of the document, whatever the values.


mpl.use("agg")

MONEY = pyarrow.decimal128(38, 6)

FIRST: dict[str, Any] = {"period": "2026-07-01", "items": 3, "p10": "1.50", "p50": None, "p90": "0.1"}

SECOND: dict[str, Any] = {"period": "2026-07-08", "items": 4, "p10": "2.123456", "p50": "3.10", "p90": "0.3"}

SHARES = [{"channel": "WELLCOME", "observations": 3, "share": 0.5}]


def report(*rows: Any) -> Report[schemas.CohortRow]:
    return Report(list(rows), {}, schemas.CohortRow)


def test_pandas_has_floats_and_days_that_can_be_plotted() -> None:
    frame = report(FIRST, SECOND).to_pandas()
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "period": "datetime64[us]",
        "items": "int64",
        "p10": "float64",
        "p50": "float64",
        "p90": "float64",
    }
    axes = frame.set_index("period")[["p10", "p50", "p90"]].plot()
    assert [len(line.get_ydata()) for line in axes.get_lines()] == [2, 2, 2]
    assert frame.p50.mean() == 3.1 and frame.period.dt.day.tolist() == [1, 8]


def test_pandas_has_exact_decimals_on_request() -> None:
    frame = report(FIRST, SECOND).to_pandas(exact=True)
    assert frame.p10.tolist() == [Decimal("1.50"), Decimal("2.123456")] and frame.p50[0] is None
    assert frame.p90.sum() == Decimal("0.4")


def test_arrow_and_polars_have_decimals_and_days() -> None:
    table = report({**FIRST, "channels": SHARES}, SECOND).to_arrow()
    assert [table.schema.field(name).type for name in ("period", "p10", "items")] == [
        pyarrow.date32(),
        MONEY,
        pyarrow.int64(),
    ]
    assert table["p50"].to_pylist() == [None, Decimal("3.100000")]
    assert table["channels"].to_pylist() == [SHARES, None]
    frame = report(FIRST, SECOND).to_polars()
    assert frame.schema["p10"] == polars.Decimal(38, 6) and frame.schema["period"] == polars.Date


def test_the_types_do_not_depend_on_the_values() -> None:
    blank = report(FIRST, {**FIRST, "p10": None}).to_arrow()
    assert blank.schema.field("p10").type == blank.schema.field("p50").type == MONEY
    empty = report()
    assert empty.to_arrow().schema.field("p50").type == MONEY
    assert str(empty.to_pandas().dtypes["p50"]) == "float64" and len(empty.to_polars()) == 0


def test_a_member_that_the_document_lacks_stays_a_column_and_a_missing_whole_number_is_none() -> None:
    rows = report({**FIRST, "new": "x"}, {**SECOND, "items": None})
    frame = rows.to_pandas()
    assert list(frame.columns) == [*FIRST, "new"] and str(frame["items"].dtype) == "float64"
    assert rows.to_arrow()["new"].to_pylist() == ["x", None]


def test_every_row_of_the_document_becomes_columns_of_known_types() -> None:
    for name in [name for name in vars(schemas) if name.endswith("Row")]:
        schema = Report([], {}, getattr(schemas, name)).to_arrow().schema
        assert len(schema) > 3 and pyarrow.null() not in schema.types, name


# The samples of the reference page call methods that the clients have, for operations that there are.


PROJECT = Path(__file__).parents[3]

DOCUMENT = json.loads((PROJECT / "deploy/openapi/v1.json").read_text())

COMPILED = "".join(
    (PROJECT / "deploy/clients/typescript/dist" / name).read_text() for name in ("client.js", "reports.js")
)


def path_of(operation: str) -> str:
    """Return the path of an operation, with any value for its parameters."""
    for path, operations in DOCUMENT["paths"].items():
        if any(one["operationId"] == operation for one in operations.values()):
            return re.sub(r"\{\w+\}", "[^/]+", path)
    raise KeyError(operation)


@pytest.mark.parametrize("operation", samples())
def test_a_sample_of_python_calls_the_operation(
    operation: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sent: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        manifest = {"dataset": "items", "data_version": 1, "files": []}
        state = {"id": "j", "state": "succeeded", "error": None}
        meta = {"cost_units": 0}
        return httpx.Response(200, json={"data": [], "meta": meta, "next_cursor": None, **manifest, **state})

    monkeypatch.setenv("ITEMINDEX_KEY", "k")
    http = httpx.Client(transport=httpx.MockTransport(handler))
    monkeypatch.setattr(Client, "__init__", functools.partialmethod(Client.__init__, http=http))
    monkeypatch.chdir(tmp_path)
    source = python(operation, "http://service/v1", "install it")
    assert source
    try:
        exec(compile(ast.parse(source), operation, "exec"), {})
    except AttributeError as missing:
        missing.add_note("`make clients` writes the methods of reports")
        raise
    assert re.fullmatch(path_of(operation), sent[0]), sent


def test_a_sample_of_typescript_calls_methods_that_there_are() -> None:
    for operation in samples():
        source = typescript(operation, "http://service/v1", "install it")
        assert source and source.count("(") == source.count(")"), operation
        for name in re.findall(r"client\.(?:report\.)?(\w+)\(", source):
            assert re.search(rf"^    (?:async )?\*?{name}\(", COMPILED, re.MULTILINE), (
                f"run `make clients`, which compiles {name}"
            )


# The TypeScript client without a service: the tests are in typescript_client.mjs, where Node runs them.


TESTS = Path(__file__).with_name("typescript_client.mjs")


def test_every_test_in_node_passes() -> None:
    cleared = dict.fromkeys(("ITEMINDEX_URL", "ITEMINDEX_KEY", "ITEMINDEX_TOKEN"), "")
    shown = node("--test", "--test-reporter=tap", TESTS, **cleared)
    assert int(re.search(r"^# pass (\d+)$", shown, re.MULTILINE)[1]) >= 19  # type: ignore[index]
