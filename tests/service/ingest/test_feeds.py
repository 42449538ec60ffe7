"""Feeds are loaded when they change, and whatever a server or a directory holds ends as a load or as a sentence."""

import io
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from shared.clock import utc_now
from shared.db.connect import connect
from shared.errors import LoadInterrupted, LoadRefused
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import Log
from tests.service.ingest.conftest import Command
from tests.support.database import execute
from tests.support.shop import HEADER, MAPPING, ROWS, mapping
from tests.support.workers import serve_due
from workers.dispatcher.gauges import measure_feeds
from workers.ingest import mapping_tables
from workers.ingest.feeds import fetcher, runner
from workers.ingest.feeds.registry import register
from workers.ingest.feeds.runner import FeedRunner

FILE = (HEADER + ROWS).encode()
LATER = (HEADER + ROWS + "4,Tea 20 g,Vita,Drinks,Tea,0.02,2026-07-02,NORTH,3.00,\n").encode()
Behave = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """A server of files on loopback; `behave` answers each request."""

    behave: Behave
    url: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(behave: Behave, path: str = "/prices.csv?token=secret") -> Iterator[Server]:
    """Serve on a port of its own."""
    made = Server(behave)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append({**self.headers, ":path": self.path})
            made.behave(self)

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}{path}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def sends(content: bytes, *, status: int = 200, **fields: str) -> Behave:
    """Answer with this content, or 304 where the caller has its ETag."""

    def behave(request: BaseHTTPRequestHandler) -> None:
        if fields.get("ETag") and request.headers["If-None-Match"] == fields["ETag"]:
            request.send_response(304)
            request.end_headers()
            return
        request.send_response(status)
        for name, value in {"Content_Length": str(len(content)), **fields}.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return behave


@pytest.fixture
def near(settings: Settings) -> Settings:
    """Settings under which feeds may be on loopback."""
    return replace(settings, feed_private_addresses=True)


def watch(settings: Settings, folder: Path, text: str = MAPPING, **place: Any) -> None:
    """Register the shop's feed."""
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        register(settings, connection, mapping(folder, text), every_seconds=3_600, **place)


def run(settings: Settings) -> list[dict[str, Any]]:
    """Serve what is due, and return the lines of the log."""
    lines = io.StringIO()
    serve_due(FeedRunner(settings, Log("feeds", stream=lines)), settings)
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def make_due(settings: Settings) -> None:
    """Let the time pass until every feed is due."""
    execute(settings, "UPDATE feeds SET due_at = now()")


def loads(settings: Settings) -> list[str]:
    return [row[0] for row in execute(settings, "SELECT state FROM loads ORDER BY started_at")]


def failure(settings: Settings) -> str:
    """Return the error of the only feed, which has failed and loaded nothing."""
    [(error, failures)] = execute(settings, "SELECT error, failures FROM feeds")
    assert failures == 1 and execute(settings, "SELECT count(*) FROM observations") == [(0,)]
    assert not list(settings.feeds_dir.glob("*"))
    return str(error)


def test_a_feed_is_loaded_and_then_only_when_it_changed(near: Settings, tmp_path: Path) -> None:
    with serving(sends(FILE, ETag='"1"', Last_Modified="Wed, 01 Jul 2026 00:00:00 GMT")) as server:
        watch(near, tmp_path, url=server.url)
        [line] = run(near)
        assert (line["event"], line["feed"], line["state"]) == ("feed-loaded", "shop", "committed")
        assert execute(near, "SELECT count(*) FROM observations") == [(5,)]
        assert run(near) == [] and len(server.asked) == 1  # not due
        make_due(near)
        assert run(near) == [] and loads(near) == ["committed"]
        assert server.asked[1]["If-None-Match"] == '"1"'
        assert server.asked[1]["If-Modified-Since"] == "Wed, 01 Jul 2026 00:00:00 GMT"
        server.behave = sends(LATER, ETag='"2"')
        make_due(near)
        run(near)
        assert loads(near) == ["committed", "committed"]
        assert execute(near, "SELECT count(*) FROM observations") == [(6,)]
        assert execute(near, "SELECT load_files.name FROM load_files LIMIT 1") == [("prices.csv",)]


def test_the_same_bytes_without_an_etag_are_not_loaded_again(near: Settings, tmp_path: Path) -> None:
    with serving(sends(FILE)) as server:
        watch(near, tmp_path, url=server.url)
        run(near)
        make_due(near)
        assert run(near) == []
        assert len(server.asked) == 2 and loads(near) == ["committed"]


OF_THE_DAY = MAPPING.replace('day = "day"', "day = { load_day = true }")


def days_ago(settings: Settings, today: datetime) -> list[int]:
    """Return how long before today the days are that have observations."""
    query = "SELECT DISTINCT $1::date - day FROM observations ORDER BY 1"
    return [row[0] for row in execute(settings, query, f"{today:%Y-%m-%d}")]


@pytest.mark.parametrize("etag", ['"1"', None])
def test_a_file_that_states_no_day_is_loaded_on_each_and_once(
    near: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, etag: str | None
) -> None:
    today = utc_now()
    with serving(sends(FILE, **({"ETag": etag} if etag else {}))) as server:
        watch(near, tmp_path, OF_THE_DAY, url=server.url)
        for moment in (today - timedelta(days=1), today, today, today):
            for module in (mapping_tables, runner):
                monkeypatch.setattr(module, "utc_now", lambda moment=moment: moment)
            make_due(near)
            run(near)
    assert days_ago(near, today) == [0, 1] and loads(near) == ["committed", "committed"]
    assert [asked.get("If-None-Match") for asked in server.asked] == [None, None, etag, etag]


def test_a_feed_that_is_registered_again_is_read_by_its_new_mapping(near: Settings, tmp_path: Path) -> None:
    with serving(sends(FILE, ETag='"1"')) as server:
        watch(near, tmp_path, url=server.url)
        run(near)
        text = MAPPING.replace("A shop for tests", "Another title")
        with connect(near.database_url, application="tests", autocommit=True) as connection:
            register(near, connection, mapping(tmp_path, text), every_seconds=60, url=server.url)
        run(near)
        assert "If-None-Match" not in server.asked[1]
    assert execute(near, "SELECT title FROM sources WHERE name = 'shop'") == [("Another title",)]


@pytest.mark.parametrize(
    ("behave", "sentence"),
    [
        (sends(b"x" * 5_000), "the file has more than 4,096 bytes (FEED_BYTES_MAX)"),
        (sends(b"", status=503), "the server answered 503, not 200"),
        (sends(b"", status=304), "the server answered 304, not 200"),
        (sends(FILE, Content_Length="9999"), "the connection ended"),
        (sends(FILE, Content_Encoding="br"), "packed as 'br', which was not asked for"),
        (sends(b"", status=302, Location="http://localhost/?token=secret"), "cannot be reached"),
        (sends(b"", status=302, Location="ftp://example.org/p.csv"), "must be an http or https address"),
        (sends(b"", status=302, Location="/prices.csv"), "redirects more than 5 times"),
        (sends(b"sku,name\n1,Tea\n"), "column"),
        (sends(b"\x00\x01\x02" * 20), "column"),
        (sends(b""), "empty"),
    ],
)
def test_what_cannot_be_fetched_or_loaded_is_an_event_with_its_reason(
    near: Settings, tmp_path: Path, behave: Behave, sentence: str
) -> None:
    with serving(behave) as server:
        watch(near, tmp_path, url=server.url)
        [line] = run(replace(near, feed_bytes_max=4_096))
    error = failure(near)
    assert sentence in error
    assert (line["level"], line["event"], line["failures"]) == ("warning", "feed-failed", 1)
    assert "secret" not in json.dumps(line) + error


def test_a_server_that_sends_a_byte_now_and_then_is_left_after_the_time(near: Settings, tmp_path: Path) -> None:
    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while not server.ended.wait(0.05):
            try:
                request.wfile.write(b"1")
                request.wfile.flush()
            except OSError:
                return

    with serving(drip) as server:
        watch(near, tmp_path, url=server.url)
        begun = time.monotonic()
        run(replace(near, feed_seconds_max=0.5))
        assert time.monotonic() - begun < 10
    assert failure(near) == "the file was not complete after 0.5 seconds (FEED_SECONDS_MAX)"


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:1/prices.csv", "http://10.0.0.7/", "http://[::1]/", "http://a.lan/"]
)
def test_a_redirect_into_a_network_is_not_followed(
    settings: Settings, near: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    with serving(sends(b"", status=302, Location=target)) as server:
        watch(near, tmp_path, url=server.url)
        # The first address counts as public; every other is judged as it is.
        own = server.url.partition("?")[0]
        judged, lookup = feeds_fault(own), outgoing_lookup(own)
        monkeypatch.setattr("workers.ingest.feeds.fetcher.url_fault", judged)
        monkeypatch.setattr("workers.events.bounded_connection._address_of", lookup)
        run(settings)
        assert len(server.asked) == 1
    assert "public internet" in failure(settings) or "inside a network" in failure(settings)


def feeds_fault(public: str) -> Callable[..., str | None]:
    """Judge addresses as the product does, but for one, which passes."""
    from shared.events.webhook_addresses import url_fault

    return lambda url, **given: None if url.startswith(public) else url_fault(url, **given)


def outgoing_lookup(public: str) -> Callable[..., tuple[str, int]]:
    """Resolve hosts as the product does, but for the port of one address, which passes."""
    from workers.events.bounded_connection import _address_of

    port = int(public.split(":")[2].partition("/")[0])
    return lambda host, asked, **given: (host, asked) if asked == port else _address_of(host, asked, **given)


def test_a_name_that_resolves_into_a_network_is_not_fetched(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(settings, tmp_path, url="https://prices.example.org/p.csv")
    monkeypatch.setattr("socket.getaddrinfo", lambda *given, **named: [(2, 1, 6, "", ("10.0.0.7", 443))])
    # The runner's own connections to PostgreSQL are by a socket's path, which needs no name.
    feed = fetcher.Fetcher(private_allowed=False, bytes_max=10, seconds_max=5.0)
    with pytest.raises(fetcher.FetchFailed, match="inside a network"):
        feed.fetch("https://prices.example.org/p.csv", tmp_path, etag=None, last_modified=None)


def test_failures_put_a_feed_off_for_longer_each_time_and_a_success_ends_that(near: Settings, tmp_path: Path) -> None:
    with serving(sends(b"", status=500)) as server:
        watch(near, tmp_path, url=server.url)
        for minutes in (1, 2, 4):
            make_due(near)
            run(near)
            [(pause,)] = execute(near, "SELECT extract(epoch FROM due_at - read_at)::float FROM feeds")
            assert pause == pytest.approx(minutes * 60)
        with connect(near.worker_database_url, application="tests") as connection:
            measure_feeds(connection)
        assert metrics.feeds.labels("failing")._value.get() == 1
        server.behave = sends(FILE)
        make_due(near)
        run(near)
    assert execute(near, "SELECT failures, error FROM feeds") == [(0, None)]
    with connect(near.worker_database_url, application="tests") as connection:
        measure_feeds(connection)
    assert metrics.feeds.labels("failing")._value.get() == 0 and metrics.feeds.labels("active")._value.get() == 1


def test_a_slow_feed_delays_no_other(near: Settings, tmp_path: Path) -> None:
    with serving(lambda request: slow.ended.wait() and None) as slow, serving(sends(FILE)) as quick:
        watch(near, tmp_path, url=slow.url, name="slow")
        watch(near, tmp_path, url=quick.url, name="quick")
        runner = FeedRunner(near, Log("feeds", stream=io.StringIO()))
        with connect(near.database_url, application="tests", autocommit=True) as connection:
            runner.begin_due(connection)
            for _ in range(300):
                if loads(near) == ["committed"]:
                    break
                time.sleep(0.05)
        assert loads(near) == ["committed"] and slow.asked


def drop(folder: Path, name: str, content: bytes) -> Path:
    """Drop a file that was complete a minute ago."""
    path = folder / name
    path.write_bytes(content)
    os.utime(path, (time.time() - 60, time.time() - 60))
    return path


def test_files_of_a_directory_are_loaded_and_moved(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    watch(settings, tmp_path, directory=folder)
    drop(folder, "a.csv", FILE)
    drop(folder, "broken.csv", b"nothing\nuseful\n")
    drop(folder, ".hidden.csv", FILE)
    (folder / "growing.csv").write_bytes(FILE[:20])
    (folder / "link.csv").symlink_to(tmp_path / "shop.toml")
    run(settings)
    assert loads(settings) == ["committed", "failed"]
    assert sorted(path.name for path in folder.iterdir() if path.is_file() or path.is_symlink()) == [
        ".hidden.csv",
        "growing.csv",
        "link.csv",
    ]
    [done] = (folder / "done").iterdir()
    assert done.name.endswith("Z-a.csv") and done.read_bytes() == FILE
    broken, reason = sorted((folder / "failed").iterdir())
    assert broken.name.endswith("Z-broken.csv") and reason.name == f"{broken.name}.reason.txt"
    assert "column" in reason.read_text()
    [(error, failures)] = execute(settings, "SELECT error, failures FROM feeds")
    assert error.startswith("broken.csv: ") and failures == 1
    # A file of the same name, later.
    drop(folder, "a.csv", LATER)
    make_due(settings)
    run(settings)
    assert len(list((folder / "done").iterdir())) == 2
    assert execute(settings, "SELECT count(*) FROM observations") == [(6,)]


def test_a_file_is_not_blamed_for_an_outage(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    watch(settings, tmp_path, directory=folder)
    drop(folder, "a.csv", FILE)

    def broken(*given: Any, **named: Any) -> None:
        raise LoadInterrupted("the load was broken off and nothing of it was kept")

    monkeypatch.setattr("workers.ingest.load.load.load", broken)
    run(settings)
    assert (folder / "a.csv").exists() and "broken off" in failure(settings)


def test_a_load_that_is_stopped_is_rolled_back_and_stays_due(near: Settings, tmp_path: Path) -> None:
    with serving(sends(FILE)) as server:
        watch(near, tmp_path, url=server.url)
        serve_due(FeedRunner(near, Log("feeds", stream=io.StringIO()), stopping=lambda: True), near)
    assert execute(near, "SELECT count(*) FROM observations") == [(0,)]
    assert execute(near, "SELECT failures, error, due_at <= now() FROM feeds") == [(0, None, True)]


def test_an_address_that_may_not_be_fetched_is_refused(settings: Settings, tmp_path: Path) -> None:
    for url, sentence in (
        ("ftp://example.org/p.csv", "must be an http or https address"),
        ("http://127.0.0.1/p.csv", "must be on the public internet; set FEED_PRIVATE_ADDRESSES"),
        ("https://me:secret@example.org/p.csv", "must have no user name"),
        ("prices.csv", "is not a valid address"),
        (f"https://example.org/{'a' * 2_000}", "2,000 characters at most"),
    ):
        with pytest.raises(LoadRefused, match=sentence):
            watch(settings, tmp_path, url=url)
    assert execute(settings, "SELECT count(*) FROM feeds") == [(0,)]


def test_the_commands_register_list_pause_resume_and_remove(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    mapping(tmp_path)
    path = str(tmp_path / "shop.toml")
    url = "https://shop.example.org/prices.csv?token=secret"
    assert command("feeds", "add", "--url", url, "--mapping", path, "--every", "15m").exit_code == 0
    listed = command("feeds", "list", "--json")
    [feed] = json.loads(listed.output)
    assert (feed["feed"], feed["every_seconds"], feed["state"]) == ("shop", 900, "active")
    assert feed["place"] == "https://shop.example.org/prices.csv" and "secret" not in listed.output
    assert command("feeds", "state", "shop", "paused").exit_code == 0
    assert json.loads(command("feeds", "list", "--json").output)[0]["state"] == "paused"
    assert run(settings) == []
    assert command("feeds", "state", "shop", "active").exit_code == 0
    assert command("feeds", "state", "shop", "removed").exit_code == 0
    assert json.loads(command("feeds", "list", "--json").output) == []
    gone = command("feeds", "state", "shop", "removed")
    assert gone.exit_code == 1 and "there is no feed shop" in str(gone.exception)
    (tmp_path / "broken.toml").write_text("source = 1")
    assert command("feeds", "add", "--url", url, "--mapping", str(tmp_path / "broken.toml")).exit_code == 1
    assert command("feeds", "add", "--mapping", path).exit_code == 2
    assert command("feeds", "add", "--url", url, "--mapping", path, "--every", "1").exit_code == 2
    assert command("feeds", "add", "--url", url, "--mapping", path, "--every", "1s").exit_code == 1


def test_the_edge_sees_no_address_and_no_mapping_of_a_feed(settings: Settings) -> None:
    with connect(settings.edge_database_url, application="tests", autocommit=True) as connection:
        connection.execute("SELECT name, error FROM feeds")
        for column in ("url", "mapping", "directory"):
            with pytest.raises(Exception, match="permission denied"):
                connection.execute(f"SELECT {column} FROM feeds")


def test_the_process_serves_until_it_is_stopped_and_removes_what_a_killed_one_left(
    near: Settings, tmp_path: Path
) -> None:
    left, other = near.feeds_dir / "itemindex-feed-left", near.feeds_dir / "of-somebody-else"
    left.mkdir(parents=True)
    other.mkdir()
    stopped = threading.Event()
    with serving(sends(FILE)) as server:
        watch(near, tmp_path, url=server.url)
        runner = FeedRunner(near, Log("feeds", stream=io.StringIO()), stopped.is_set)
        thread = threading.Thread(target=runner.run)
        thread.start()
        for _ in range(300):
            if loads(near) == ["committed"]:
                break
            time.sleep(0.05)
        stopped.set()
        thread.join(timeout=30)
    assert loads(near) == ["committed"] and not thread.is_alive()
    assert list(near.feeds_dir.iterdir()) == [other]
