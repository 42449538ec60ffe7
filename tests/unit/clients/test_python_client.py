"""The Python client without a service: what it sends, how it waits, what it makes of answers and releases."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from itemindex_client import (
    ApiProblem,
    Client,
    ConnectionFailed,
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
)
from itemindex_client.cli import main
from itemindex_client.orders import ReportCall

from tests.unit.clients.answering import URL, answers, client, job, manifest, problem

PACKAGE = Path(__file__).parents[3] / "clients/python"


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
