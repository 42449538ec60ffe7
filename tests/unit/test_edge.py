"""A process of the edge: its log, its documents, its cache entries and its end."""

import asyncio
import fcntl
import hashlib
import os
import random
import re
import socket
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from jsonschema import Draft202012Validator
from marshmallow import fields, validate

from edge.analytics.envelope import light_offer
from edge.analytics.price_history import SCHEMA
from edge.analytics.report_declarations import REPORTS, REPORTS_BY_KIND, Report
from edge.docs.guides import READERS, Guides, address_of, render
from edge.docs.problem_types import Errors
from edge.docs.well_known import WellKnown
from edge.http.context import CONTEXT, Context
from edge.http.lists import CursorSigner
from edge.http.parameters import WholeNumber
from edge.http.problems import Fault, Problem
from edge.http.representation import MadeOnce
from edge.http.request_context import AccessLog
from edge.index import identifiers
from edge.index import lookup as records
from edge.index.identifiers import Resolution
from edge.index.lookup import make
from edge.mcp.calls import checked, result_of
from edge.mcp.protocol import encoded_result
from edge.mcp.tools import LEFT_OUT, LISTED, TOOLS, TOOLS_BY_NAME, RestCall, Tool, report_arguments
from edge.mcp.views import ANSWER_BYTES_MAX, Pages, Part, View, fitted
from edge.server import EdgeServer
from shared.errors import CursorExpired, InvalidCursor
from shared.redis import keys
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import _DRAIN_SECONDS, LineWriter, Log

# Access lines for which there is no place are counted, and no request waits for a place.


_LINE = b"x" * 999 + b"\n"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "lines"
    os.mkfifo(path)
    return path


def opened(pipe: Path) -> int:
    """Open the end of a reader, with as little room for lines that wait for it as a pipe can have."""
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    return reader


def lost() -> float:
    return metrics.access_lines_lost._value.get()


async def test_lines_behind_a_part_that_was_written_are_counted_as_lost(pipe: Path) -> None:
    reader, before = opened(pipe), lost()
    file = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)  # takes what fits, as a disk that becomes full
    writer = LineWriter(file, metrics.access_lines_lost)
    writer.write(_LINE * 10)
    writer.close()
    assert lost() - before == 10 - os.read(reader, 65536).count(b"\n") > 0
    os.close(reader)


def test_lines_after_the_end_are_counted_and_go_to_no_other_file(tmp_path: Path) -> None:
    before, others = lost(), set(threading.enumerate())
    file = os.open(tmp_path / "lines", os.O_WRONLY | os.O_CREAT)
    writer = LineWriter(file, metrics.access_lines_lost)
    writer.write(_LINE)
    [thread] = (one for one in threading.enumerate() if one.name == "line-writer" and one not in others)
    writer.close()
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    assert other == file  # the system gives the number again
    writer.write(_LINE * 2)
    assert lost() - before == 2
    thread.join(10)
    assert not thread.is_alive()
    os.close(other)
    assert (tmp_path / "lines").read_bytes().count(b"\n") == 1 and (tmp_path / "other").read_bytes() == b""


async def test_a_pipe_that_nobody_reads_stops_no_loop_and_each_line_is_written_or_counted(pipe: Path) -> None:
    reader, before, lines = opened(pipe), lost(), 5_000
    log = AccessLog(str(pipe))
    latest, stops = monotonic(), 0
    for n in range(lines):
        log.append(_LINE)
        if n % 100 == 0:
            await asyncio.sleep(0.02)  # 50 steps: several ticks of the log's own timer
            stops, latest = stops + (monotonic() - latest >= _DRAIN_SECONDS), monotonic()
    assert stops < 2  # a loop that waited for its lines would stop so long at each tick, a busy machine once
    assert lost() > before
    os.set_blocking(reader, True)
    read = asyncio.create_task(asyncio.to_thread(_all_lines, reader))
    await asyncio.to_thread(log.flush)
    log.close()
    assert await read + lost() - before == lines


async def test_a_log_whose_pipe_nobody_reads_stops_no_loop(pipe: Path) -> None:
    reader = opened(pipe)
    before = metrics.log_lines_lost._value.get()
    log = Log("tests", stream=LineWriter(os.open(pipe, os.O_WRONLY), metrics.log_lines_lost))
    began = monotonic()
    for _ in range(2_000):
        log.info("started", text="x" * 1_000)
    assert monotonic() - began < 30  # a second for each line, were any waited for
    assert metrics.log_lines_lost._value.get() > before
    os.close(reader)


def _all_lines(reader: int) -> int:
    with os.fdopen(reader, "rb") as file:
        return sum(1 for _ in file)


# What edges of two releases read from one cache store: a change of an entry's bytes needs another layout.


ROW: dict[str, Any] = {
    "iid": "II-1", "name": "Soy drink", "alt_names": ["Soya"], "status": "active", "survivor_iid": None,
    "product_type": "Drink", "identifiers": '[{"scheme":"gtin","value":"04006381333931"}]',
    "attributes": '{"weight_kg":1.05}', "version": 3, "first_seen_on": date(2026, 7, 1),
    "updated_at": datetime(2026, 7, 2, tzinfo=UTC), "brand_id": "b1", "brand_name": "Oat & Co", "brand_slug": "oat-co",
    "category_code": "food.drinks", "category_path": ["Food", "Drinks"],
    "channels": '[{"channel":"NORTH","listings":2,"last_seen_on":"2026-07-02"}]',
    "price_band": '{"currency":"EUR","kind":"l","low":199,"high":249,"median":224.5,"observations":4,"set_aside":1,'
    '"from":"2026-07-01","to":"2026-07-02"}',
    "impacts": '[{"indicator":"gwp_kg","per_unit":0.7,"basis":"measured","method":"EPD"}]',
    "factors": None,
    "sources": '[{"source":"shop","observed_at":"2026-07-02T00:00:00","license":"CC-BY-4.0"}]',
    "field_sources": None, "members": None,
    "matches": '[{"iids":["II-1","II-2"],"kind":"link","score":1,"evidence":[],"since":"2026-07-01T00:00:00"}]',
}  # fmt: skip


def test_a_record_that_is_packed_otherwise_has_another_layout() -> None:
    packed = make(ROW, "https://api.example/v1").pack()
    digest = hashlib.sha256(packed).hexdigest()[:12]
    assert (records.LAYOUT, digest) == (1, "0ec366487b7c"), (
        "a changed record needs the next LAYOUT: then name its digest here"
    )


def test_a_resolution_that_is_packed_otherwise_has_another_layout() -> None:
    assert (identifiers.LAYOUT, Resolution(("II-1", "II-2")).pack()) == (1, b"II-1\nII-2")


def test_no_key_of_one_layout_is_a_key_of_another() -> None:
    snapshot = keys.snapshot(12, "2026-07-01 00:00:00+00")
    for key in (keys.record, keys.identifier):
        assert len({key(layout, one, "II-1") for layout in (1, 2) for one in (snapshot, keys.snapshot(12, ""))}) == 4


# Documents that are made once: in a thread, for all who request them.


def _request(method: str, path: str, *arguments: Any, **named: Any) -> web.Request:
    request = make_mocked_request(method, path, *arguments, **named)
    request[CONTEXT] = Context("request", "charge", "network")
    return request


HTML, MARKDOWN, JSON = "text/html", "text/markdown", "application/json"


async def test_concurrent_requests_share_one_making_in_another_thread() -> None:
    threads: list[threading.Thread] = []

    def make() -> object:
        threads.append(threading.current_thread())
        return object()

    value = MadeOnce(make)
    assert len({id(made) for made in await asyncio.gather(*(value.get() for _ in range(5)))}) == 1
    assert threads != [] and threading.current_thread() not in threads
    await value.get()
    assert len(threads) == 1


async def test_a_caller_that_disconnects_leaves_the_value_to_the_others() -> None:
    finish = threading.Event()
    value = MadeOnce(lambda: finish.wait(30))
    gone, stays = asyncio.create_task(value.get()), asyncio.create_task(value.get())
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    finish.set()
    assert await stays


async def test_a_value_that_could_not_be_made_is_made_for_the_next_caller() -> None:
    broken = [OSError("too many open files")]

    def make() -> str:
        if broken:
            raise broken.pop()
        return "made"

    value = MadeOnce(make)
    with pytest.raises(OSError, match="too many"):
        await value.get()
    assert await value.get() == "made"


@pytest.mark.parametrize("accept", [HTML, MARKDOWN, JSON])
async def test_a_second_request_for_the_problems_makes_no_page_again(accept: str) -> None:
    errors = Errors(Settings())

    async def bodies() -> list[object]:
        head = {"Accept": accept}
        one = _request("GET", "/v1/errors/not-found", head, match_info={"slug": "not-found"})
        return [
            (await errors.list(_request("GET", "/v1/errors", head))).body,  # type: ignore[attr-defined]
            (await errors.show(one)).body,  # type: ignore[attr-defined]
        ]

    for first, second in zip(await bodies(), await bodies(), strict=True):
        assert first is second


async def test_a_second_request_makes_no_well_known_document_again() -> None:
    documents = WellKnown(Settings(), Guides({}, "https://index.example"))
    for handler in (documents.api_catalog, documents.robots, documents.llms):
        first, second = [await handler(_request("GET", "/")) for _ in range(2)]
        assert first.body is second.body  # type: ignore[attr-defined]


# An edge that ends takes nothing with it that it has answered.


_CHUNK = b"x" * 8192

_REQUEST = b"GET / HTTP/1.1\r\nHost: edge\r\nConnection: close\r\n\r\n"

_END = b"0\r\n\r\n"


@asynccontextmanager
async def answered() -> AsyncIterator[tuple[EdgeServer, asyncio.StreamReader]]:
    """A server that has answered, and a caller that has not read the end: it is in the process, not in the kernel."""
    done = asyncio.Event()

    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        while not request.transport.get_write_buffer_size():  # type: ignore[union-attr]
            await answer.write(_CHUNK)
        done.set()
        return answer

    fast_path: Any = SimpleNamespace(draining=True)
    server = EdgeServer(handler, fast_path=fast_path, problem_base_url="http://errors")
    ours, theirs = socket.socketpair()
    await asyncio.get_running_loop().connect_accepted_socket(server, ours)
    reader, writer = await asyncio.open_unix_connection(sock=theirs)
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(_REQUEST)
    await done.wait()
    yield server, reader
    writer.close()


async def test_a_slow_reader_gets_the_end_of_his_answer() -> None:
    async with answered() as (server, reader):
        ending = asyncio.create_task(server.shutdown(30))
        for _ in range(50):  # turns of the loop: nothing but the reader can end it
            await asyncio.sleep(0)
        assert not ending.done()
        reader._transport.resume_reading()  # type: ignore[attr-defined]
        assert (await reader.read()).endswith(_END)
        await ending


@pytest.mark.parametrize("seconds", [0.1, None])
async def test_a_client_that_does_not_read_keeps_no_worker_for_ever(seconds: float | None) -> None:
    async with answered() as (server, _):
        await asyncio.wait_for(server.shutdown(seconds), 10)


# Guides as pages: headings that can be linked to, tables that scroll, links that lead somewhere.


GUIDES = Path(__file__).parents[2] / "deploy/guides"


def test_headings_have_anchors_and_twins_are_numbered() -> None:
    rendered = render("# A *guide*\n\n## Part: one & two\n\n## Part\n\n## Part\n")
    assert rendered.title == "A guide"
    assert [one.anchor for one in rendered.headings] == ["a-guide", "part-one--two", "part", "part-1"]
    assert '<h2 id="part-1">' in rendered.html


def test_a_table_scrolls_and_right_alignment_is_a_class() -> None:
    html = render("| a | b |\n|---|--:|\n| x | 1 |\n").html
    assert '<div class="scroll" tabindex="0"><table>' in html
    assert '<td class="number">1</td>' in html and "style=" not in html


def test_a_link_without_an_address_becomes_text() -> None:
    html = render("see [this *page*](../x.py) and [that](b.md)", lambda href: "/b" if href == "b.md" else None).html
    assert html == '<p>see this <em>page</em> and <a href="/b">that</a></p>\n'


def test_links_of_guides_lead_to_guides_or_out() -> None:
    guides = {"operate", "reports"}
    assert address_of("operate.md#x", guides) == "/v1/docs/guides/operate#x"
    assert address_of("https://example.org", guides) == "https://example.org"
    assert address_of("#here", guides) == "#here"
    assert address_of("../decisions/0001-x.md", guides) is None
    assert address_of("missing.md", guides) is None


def test_every_guide_is_listed_once() -> None:
    listed = [name for names in READERS.values() for name in names]
    assert sorted(listed) == sorted(path.stem for path in GUIDES.glob("*.md"))


def test_a_guide_begins_with_one_plain_sentence_about_its_purpose() -> None:
    for name in [name for names in READERS.values() for name in names]:
        title, summary, *_ = (GUIDES / f"{name}.md").read_text(encoding="utf-8").split("\n\n")
        assert title.startswith("# "), name
        assert re.fullmatch(r"[^`\[<.]{20,200}\.", " ".join(summary.split())), summary


def test_a_customers_guide_names_no_file_and_no_decision_of_the_repository() -> None:
    for name in READERS["customers"]:
        text = (GUIDES / f"{name}.md").read_text(encoding="utf-8")
        assert re.findall(r"\b(?:deploy|shared|edge|workers|tests)/[\w./-]+|\bdecisions?\W+\d{4}", text) == [], name


# Arguments of tools are held against their schema as JSON Schema means it.


TOOL = Tool(
    "t",
    "T",
    "",
    {"limit": {"type": "integer", "minimum": 1, "maximum": 50}},
    lambda _: RestCall("/"),
    lambda body: body,
)


def test_a_number_without_a_fraction_is_an_integer() -> None:
    found = checked(TOOL, {"limit": 5.0})["limit"]
    assert (found, type(found)) == (5, int)


@pytest.mark.parametrize("value", [5.5, 51.0, 0.0, True, "5", float("inf"), float("nan")])
def test_all_else_is_refused(value: Any) -> None:
    with pytest.raises(Problem):
        checked(TOOL, {"limit": value})


# Pages of answers: none is over 4 kB, and together they say everything once and in order.


PAGES = Pages(CursorSigner("s" * 32))

ASKED = {"iid": "IID-A"}


def encoded(page: Mapping[str, Any]) -> bytes:
    return encoded_result("i" * 128, result_of(page))


def pages_of(view: View) -> list[dict[str, Any]]:
    """Follow the cursors to the end."""
    found, position = [], PAGES.position("t", ASKED, None)
    while True:
        page = PAGES.page("t", ASKED, view, position, encoded)
        assert len(encoded(page)) <= ANSWER_BYTES_MAX
        found.append(page)
        cursor = found[-1].pop("next_cursor", None)
        if cursor is None:
            return found
        position = PAGES.position("t", ASKED, cursor)
        assert len(found) < 5_000


def test_pages_hold_every_part_once_in_order_and_each_the_most_that_fits() -> None:
    for seed in range(10):
        chance = random.Random(seed)
        alphabet = ['"', "\\", "é", "豆", "a", "\n", "😀"]
        rows = [
            {"n": n, "text": "".join(chance.choices(alphabet, k=chance.randrange(90)))}
            for n in range(chance.randrange(1, 700))
        ]
        found = pages_of(View({"total": len(rows)}, [Part("rows", row, element=True) for row in rows]))
        assert [row for page in found for row in page["rows"]] == rows, seed
        assert all(page["total"] == len(rows) for page in found), seed
        assert all(len(encoded(page)) > ANSWER_BYTES_MAX / 2 for page in found[:-1]), seed


def test_pages_of_two_states_of_the_data_are_not_joined() -> None:
    rows = [Part("rows", {"n": n, "text": "x" * 80}, element=True) for n in range(100)]
    before, after = View({"data_version": 7}, rows), View({"data_version": 8}, rows[3:])
    cursor = PAGES.page("t", ASKED, before, PAGES.position("t", ASKED, None), encoded)["next_cursor"]
    position = PAGES.position("t", ASKED, cursor)
    assert PAGES.page("t", ASKED, before, position, encoded)["rows"][0]["n"] > 0
    with pytest.raises(CursorExpired):
        PAGES.page("t", ASKED, after, position, encoded)


def test_members_lists_and_objects_are_put_together_again() -> None:
    parts = [Part("name", "Soy"), Part("codes", 1, element=True), Part("codes", 2, element=True)]
    parts += [Part("attributes", "red", key="color")]
    assert pages_of(View({}, parts)) == [{"name": "Soy", "codes": [1, 2], "attributes": {"color": "red"}}]


def test_a_part_that_no_page_could_hold_is_cut() -> None:
    for value in (
        "x" * 100_000,
        ["y" * 500] * 1_000,
        {"k" * 300 + str(n): "v" * 300 for n in range(300)},
        [[["z" * 9_000] * 9] * 9],
    ):
        assert len(pages_of(View({}, [Part("rows", value, element=True)]))) == 1, value
        assert "…" in msgspec.json.encode(fitted(value)).decode(), value


def test_text_that_fits_is_not_cut() -> None:
    row = {"text": "x" * 900}
    assert fitted(row) == row


def test_a_cursor_belongs_to_its_tool_and_arguments() -> None:
    view = View({}, [Part("rows", "x" * 900, element=True)] * 9)
    cursor = PAGES.page("t", ASKED, view, PAGES.position("t", ASKED, None), encoded)["next_cursor"]
    for tool, arguments, text in (
        ("u", ASKED, cursor),
        ("t", {"iid": "IID-B"}, cursor),
        ("t", ASKED, ("B" if cursor[0] == "A" else "A") + cursor[1:]),
    ):
        with pytest.raises(InvalidCursor):
            PAGES.position(tool, arguments, text)


def test_the_last_page_leads_to_the_next_one_of_the_rest_call() -> None:
    page = PAGES.page("t", ASKED, View({}, [], "rest-cursor"), PAGES.position("t", ASKED, None), encoded)
    assert PAGES.position("t", ASKED, page["next_cursor"]) == ("rest-cursor", 0, 0)


def test_the_list_of_tools_takes_at_most_2500_tokens() -> None:
    # A token of JSON and English has 3 characters or more in the tokenizers in use; 2.5 is on the safe side of all.
    assert len(msgspec.json.encode(LISTED)) / 3 <= 2_500
    # What hosts let a model read: schemas of answers are for the host itself.
    read = [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in LISTED["tools"]]
    assert len(msgspec.json.encode({"tools": read})) / 2.5 <= 2_500
    assert len(TOOLS) <= 8


def test_a_part_that_is_left_out_keeps_its_type() -> None:
    huge = {"a": {"b": {"c": {"d": {"e": {"f": "豆" * 400}}}}}}
    for _ in range(7):
        huge = {"left": huge, "right": huge}
    for large in (huge, [huge], "x" * 9_000):
        found = fitted(large)
        assert type(found) is type(large) and "…" in msgspec.json.encode(found).decode(), type(large)


# The tool of reports takes what the reports declare: a parameter that one of them gains is an argument at once.


ARGUMENTS = TOOLS_BY_NAME["market_report"].properties

OWN = {"report", "job"}


def declared(report: Report) -> Mapping[str, fields.Field[Any]]:
    query = report.endpoints[-1].query()
    return {field.data_key or name: field for name, field in query.fields.items()}


def choices(field: fields.Field[Any]) -> list[str]:
    return [choice for one in field.validators if isinstance(one, validate.OneOf) for choice in one.choices]


def test_each_parameter_of_a_report_is_an_argument_with_all_its_values() -> None:
    schema = Draft202012Validator({"type": "object", "properties": ARGUMENTS, "additionalProperties": False})
    for report in REPORTS:
        for name, field in declared(report).items():
            if name in LEFT_OUT:
                assert name not in ARGUMENTS or name == "cursor", (report, name)
                continue
            inner = field.inner if isinstance(field, fields.List) else field
            for value in choices(inner):
                assert schema.is_valid({name: [value] if isinstance(field, fields.List) else value}), (name, value)
            for bound in (one for one in field.validators if isinstance(one, validate.Range)):
                assert schema.is_valid({name: bound.min}) and schema.is_valid({name: bound.max}), (report, name)


def test_the_tool_has_no_argument_that_no_report_has() -> None:
    assert set(ARGUMENTS) - OWN == {name for report in REPORTS for name in declared(report)} - LEFT_OUT
    assert ARGUMENTS["report"]["enum"] == list(REPORTS_BY_KIND)


def test_a_parameter_that_some_reports_do_not_restrict_is_restricted_for_none() -> None:
    both = report_arguments([REPORTS_BY_KIND["cohorts"], REPORTS_BY_KIND["price-index"]])
    alone = report_arguments([REPORTS_BY_KIND["cohorts"]])
    assert set(alone["granularity"]["enum"]) < set(both["granularity"]["enum"])
    assert "enum" not in both["currency"]
    assert (both["window"]["type"], alone.get("window")) == ("integer", None)
    assert isinstance(declared(REPORTS_BY_KIND["price-index"])["window"], WholeNumber)


@pytest.mark.parametrize(
    ("rate", "fits"), [(0, True), (0.5, True), (1, True), (1.01, False), (True, False), ("0.5", False)]
)
def test_a_rate_is_a_number_within_its_bounds(rate: object, fits: bool) -> None:
    given = {"report": "sustainability-rollup", "displacement_rate": rate}
    if fits:
        assert checked(TOOLS_BY_NAME["market_report"], given) == given
    else:
        with pytest.raises(Problem) as refused:
            checked(TOOLS_BY_NAME["market_report"], given)
        [fault] = refused.value.faults
        assert fault == Fault("displacement_rate", "must be a number from 0 to 1", rate)


def test_an_answer_whose_meta_changed_has_another_etag() -> None:
    # Of an item without observations the range ends today, and the rows are the same: none.
    def of(day: date, format: str) -> web.Response:
        meta = {"data_version": 7, "from": date(2026, 8, 30), "to": day, "units": {}, "method": "m"}
        return asyncio.run(light_offer([], SCHEMA, meta, format)).response

    for format in ("json", "csv"):
        today, again, tomorrow = (of(date(2026, 11, day), format) for day in (27, 27, 28))
        assert today.headers["ETag"] == again.headers["ETag"]
        assert (today.headers["ETag"] == tomorrow.headers["ETag"]) == (today.body == tomorrow.body)
    assert of(date(2026, 11, 27), "json").body != of(date(2026, 11, 28), "json").body
