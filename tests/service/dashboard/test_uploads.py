"""Operators load files in the dashboard: what is shown is what is loaded, and nothing is before they say so."""

import asyncio
import gzip
import html
import io
import os
import re
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.dashboard.browser import Browser
from tests.support.database import execute
from tests.support.shop import HEADER, MAPPING, ROWS
from tests.support.workers import serve_due
from workers.ingest.feeds import FeedRunner
from workers.ingest.guess.guess import Guess

PAGE = "/dashboard/data"
BYTES_MAX = 300_000
FILE = (HEADER + ROWS).encode()


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The operators are Ada and Grace."""
    return replace(settings, staff="ada@example.org, grace@example.org", upload_bytes_max=BYTES_MAX)


async def upload(
    browser: Browser, content: bytes = FILE, name: str = "prices.csv", *, csrf: str | None = None, **head: str
) -> int:
    """Send a file as the page's form does."""
    if csrf is None:
        await browser.ask("GET", PAGE)
        csrf = browser.csrf()
    form: Any = aiohttp.FormData()
    form.add_field("csrf", csrf)
    form.add_field("file", content, filename=name, content_type="text/csv")
    return await browser.ask("POST", PAGE, form, head)


async def serve(browser: Browser, **options: Any) -> None:
    """Do what is wanted of the files, as the process beside the edge does."""
    settings = replace(browser.edge.settings, **options)
    await asyncio.to_thread(serve_due, FeedRunner(settings, Log("feeds", stream=io.StringIO())), settings)


async def uploaded(browser: Browser, content: bytes = FILE, name: str = "prices.csv") -> str:
    """Upload a file and have it served; return the address of its page, which is shown."""
    assert await upload(browser, content, name) == 303
    page = str(browser.last.headers["Location"])
    await serve(browser)
    assert await browser.ask("GET", page) == 200
    return page


async def act(browser: Browser, page: str, wanted: str, mapping: str = "", **decisions: str) -> int:
    """Press a button of a file's page, and have done what it asks for."""
    chosen = {name.replace("_", "-"): line for name, line in decisions.items()}
    fields = {"csrf": browser.csrf(), "wanted": wanted, "mapping": mapping, **chosen}
    status = await browser.ask("POST", page, fields)
    await serve(browser)
    await browser.ask("GET", page)
    return status


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("prices.csv", content)
    return packed.getvalue()


def state(browser: Browser) -> str:
    found = re.search(r'data-state="(\w+)"', browser.text)
    assert found is not None
    return found[1]


def objects(browser: Browser) -> list[Path]:
    return [path for path in (browser.edge.settings.results_dir / "uploads").glob("*") if path.is_file()]


async def test_a_file_is_recognized_previewed_loaded_and_undone(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser, name="mapping.toml")  # a name that the mapping itself could have
    assert "[item]" in html.unescape(browser.text) and "[observation]" in html.unescape(browser.text)
    # What a guess leaves open is for the operator; here all of it.
    assert await act(browser, page, "preview", MAPPING) == 303
    assert state(browser) == "previewed"
    shown = html.unescape(browser.text)
    assert f">\n{MAPPING}</textarea>" in shown  # browsers drop the first line feed
    assert "Soy milk 1L" in shown and "10.90" in shown and "Crème brûlée" in shown
    assert "Read: 5 rows, 5 of them usable." in shown and "3 items new" in shown
    assert execute(browser.edge.settings, "SELECT count(*) FROM items") == [(0,)]
    assert execute(browser.edge.settings, "SELECT count(*) FROM loads") == [(0,)]
    assert await act(browser, page, "load", MAPPING.replace("\n", "\r\n")) == 303  # as browsers send lines
    assert state(browser) == "loaded" and "Undo this load" in browser.text
    assert execute(browser.edge.settings, "SELECT count(*) FROM observations") == [(5,)]
    assert objects(browser) == []
    assert await browser.ask("GET", f"{page}/mapping.toml") == 200
    assert browser.text == MAPPING
    await browser.ask("GET", page)
    assert await act(browser, page, "undo") == 303
    assert state(browser) == "undone"
    assert execute(browser.edge.settings, "SELECT count(*) FROM observations") == [(0,)]
    assert execute(browser.edge.settings, "SELECT undone_by FROM events WHERE undone_by IS NOT NULL") == [("Ada",)]


async def test_what_was_not_previewed_by_this_mapping_is_not_loaded(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    await act(browser, page, "preview", MAPPING)
    assert await act(browser, page, "load", MAPPING + "# another\n") == 409
    assert state(browser) == "previewed"
    assert execute(browser.edge.settings, "SELECT count(*) FROM loads") == [(0,)]


async def test_doubts_are_decided_by_a_click(browser: Browser) -> None:
    await browser.sign_in()
    content = b"id,name,price,currency,date,shop,category\n1,A,2.50,EUR,03/04/2026,N,Food / Rice\n"
    page = await uploaded(browser, content)
    assert state(browser) == "refused"  # the guess is no mapping before somebody has decided
    assert 'name="decision-1"' in browser.text and "is 2026-04-03" in browser.text
    await browser.ask("GET", f"{page}/mapping.toml")
    guessed = browser.text
    await browser.ask("GET", page)
    values = [html.unescape(value) for value in re.findall(r'name="decision-\d" value="([^"]*)"', browser.text)]
    path, kept, first, second = values
    assert kept.startswith("category: is") and first.startswith("day = ") and second.endswith("is 2026-03-04")
    assert await act(browser, page, "preview", guessed, decision_1=kept, decision_2="day = { load_day = true }") == 409
    assert await act(browser, page, "preview", guessed.replace("\n", "\r\n"), decision_1=kept, decision_2=second) == 303
    assert state(browser) == "previewed"
    assert "2026-03-04" in browser.text and "decision-" not in browser.text
    assert await act(browser, page, "load", guessed) == 409
    decided = html.unescape(
        browser.text.partition('aria-describedby="about-mapping">\n')[2].partition("</textarea>")[0]
    )
    assert "# CHECK day" not in decided and 'category = "category"' in decided and path not in decided
    assert await act(browser, page, "load", decided) == 303
    assert execute(browser.edge.settings, "SELECT day::text FROM observations") == [("2026-03-04",)]


async def test_a_mapping_that_cannot_be_used_is_refused_with_the_reason(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    for mapping, sentence in (
        ("source = 1", "source"),
        ("", "source"),
        (MAPPING.replace('"sku"', '"absent"', 1), "absent"),
        (
            MAPPING.replace("[observation]", '[item.alt_names]\nfile = "/etc/passwd"\nkeys = ["x"]\n[observation]'),
            "alt_names",
        ),
        ("\x01 <script>", "<script>"),
    ):
        assert await act(browser, page, "preview", mapping) == 303, mapping
        assert state(browser) == "refused", mapping
        assert sentence in html.unescape(browser.text) and "<script>" not in browser.text, mapping
        # It can be corrected, and then loaded.
        await act(browser, page, "preview", MAPPING)
        assert state(browser) == "previewed", mapping


async def test_a_file_that_is_nothing_ends_with_a_sentence(browser: Browser) -> None:
    await browser.sign_in()
    for content in (b"\x00\x01\x02" * 50, b"\xff\xfe", b"PAR1 none", b"\x1f\x8b broken", b"\n\n\n"):
        await uploaded(browser, content)
        assert state(browser) == "refused" and 'role="alert"' in browser.text, content
        assert "unexpected error" not in browser.text, content


async def test_a_guess_unpacks_no_more_of_a_file_than_a_load_may(browser: Browser) -> None:
    await browser.sign_in()
    for packed in (gzip.compress(FILE * 9), zipped(FILE * 9)):
        await upload(browser, packed)
        await serve(browser, ingest_unpacked_bytes_max=1_000)
        await browser.ask("GET", str(browser.last.headers["Location"]))
        assert "unpacks to more than 1,000 bytes (INGEST_UNPACKED_BYTES_MAX)" in browser.text
    assert execute(browser.edge.settings, "SELECT mapping FROM uploads") == [(None,)] * 2


async def test_doubts_are_listed_and_the_rest_of_the_page_says_nothing_as_markup(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    guessed = Guess(
        "# CHECK day: <b>03/04</b> is of March or of April\n"
        f'# CHECK day: which?\n# CHECK   day = "<i>"  # "><script>\n{MAPPING}',
        None,
        (),
    )
    monkeypatch.setattr("workers.ingest.uploads.guess", lambda path, **options: guessed)
    await browser.sign_in()
    page = await uploaded(browser, FILE.replace(b"Soy milk 1L", b"<i>Soy</i>"))
    assert "<li>day: &lt;b&gt;03/04&lt;/b&gt; is of March or of April</li>" in browser.text
    assert 'value="day = &#34;&lt;i&gt;&#34;  # &#34;&gt;&lt;script&gt;"' in browser.text
    assert "<script>" not in browser.text and "<i>" not in browser.text
    assert "<i>Soy" not in browser.text and "&lt;i&gt;Soy" in browser.text
    assert await browser.ask("GET", f"{page}/state") == 200


async def test_work_that_is_cancelled_ends_and_changes_nothing(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    await act(browser, page, "preview", MAPPING)
    form = {"csrf": browser.csrf(), "mapping": MAPPING}
    assert await browser.ask("POST", page, {**form, "wanted": "load"}) == 303
    await browser.ask("GET", page)
    assert state(browser) == "waiting" and f'hx-get="{page}/state"' in browser.text
    assert await act(browser, page, "cancel") == 303
    assert state(browser) == "cancelled"
    assert execute(browser.edge.settings, "SELECT count(*) FROM observations") == [(0,)]
    await act(browser, page, "preview", MAPPING)
    assert state(browser) == "previewed"


async def test_a_file_of_any_size_up_to_the_bound_is_stored_and_no_larger_one(browser: Browser) -> None:
    await browser.sign_in()
    assert await upload(browser, b"x" * BYTES_MAX) == 303
    [stored] = objects(browser)
    assert stored.stat().st_size == BYTES_MAX  # larger than any other form
    assert await upload(browser, b"x" * (BYTES_MAX + 1)) == 413
    assert "UPLOAD_BYTES_MAX" in browser.text
    assert await upload(browser, b"") == 400
    assert objects(browser) == [stored]
    assert not list((browser.edge.settings.results_dir / ".partial").iterdir())


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\\b\\c.csv", "", ".hidden", "ü" * 300])
async def test_a_file_keeps_no_name_that_leads_elsewhere(browser: Browser, name: str) -> None:
    await browser.sign_in()
    if await upload(browser, FILE, name) == 303:
        [(kept,)] = execute(browser.edge.settings, "SELECT file_name FROM uploads")
        assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}", kept)
    else:
        assert name == ""


async def test_the_page_is_for_operators_alone_and_shows_each_their_own_files(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("grace")
    assert await other.ask("GET", PAGE) == 200 and "prices.csv" not in other.text
    for path in (page, f"{page}/state", f"{page}/mapping.toml"):
        assert await other.ask("GET", path) == 404
    await other.ask("GET", PAGE)
    form = {"csrf": other.csrf(), "wanted": "preview", "mapping": MAPPING}
    assert await other.ask("POST", page, form) == 404
    stranger = Browser(browser.edge, browser.issuer)
    await stranger.sign_in("hedy")
    await stranger.ask("GET", "/dashboard")
    assert PAGE not in stranger.text
    csrf = stranger.csrf()
    assert await stranger.ask("GET", PAGE) == 403
    assert await upload(stranger, csrf=csrf) == 403
    assert len(objects(browser)) == 1


async def test_files_are_listed_the_newest_first(browser: Browser) -> None:
    await browser.sign_in()
    names = [f"file-{number}.csv" for number in range(5)]
    for name in names:
        assert await upload(browser, name=name) == 303
    await browser.ask("GET", PAGE)
    assert re.findall(r"file-\d\.csv", browser.text) == names[::-1]


async def test_a_form_from_elsewhere_is_refused_before_its_file_is_read(browser: Browser) -> None:
    await browser.sign_in()
    await browser.ask("GET", PAGE)
    csrf = browser.csrf()
    assert await upload(browser, csrf="x" * 43) == 403
    assert await upload(browser, csrf=csrf, Origin="https://evil.example") == 403
    assert await browser.ask("POST", PAGE, {"csrf": csrf}) == 415
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    assert await browser.ask("POST", PAGE, "--y\r\n", broken) == 400
    assert await browser.ask("POST", PAGE, "no boundary", {"Content-Type": "multipart/form-data"}) == 400
    away = Browser(browser.edge, browser.issuer)
    assert await upload(away, csrf=csrf) == 403
    assert objects(browser) == [] and execute(browser.edge.settings, "SELECT count(*) FROM uploads") == [(0,)]


async def test_a_file_that_is_gone_is_asked_for_again(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    [stored] = objects(browser)
    stored.unlink()
    await act(browser, page, "preview", MAPPING)
    assert state(browser) == "refused" and "upload it again" in browser.text


async def test_a_load_and_its_undoing_whose_ends_could_not_be_noted_are_noted_when_they_are_tried_again(
    browser: Browser,
) -> None:
    settings = browser.edge.settings
    execute(
        settings,
        "CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'cut off' USING ERRCODE = '57P01'; END $$",
    )

    async def cut_off_at(ended: str, page: str, wanted: str, mapping: str = "") -> None:
        execute(
            settings,
            f"CREATE TRIGGER cut_off BEFORE UPDATE ON uploads FOR EACH ROW WHEN (NEW.state = '{ended}') "
            "EXECUTE FUNCTION cut_off()",
        )
        await act(browser, page, wanted, mapping)
        assert state(browser) == "running"
        execute(settings, "DROP TRIGGER cut_off ON uploads")
        await serve(browser)
        await browser.ask("GET", page)
        assert state(browser) == ended and 'role="alert"' not in browser.text

    await browser.sign_in()
    page = await uploaded(browser)
    await act(browser, page, "preview", MAPPING)
    await act(browser, page, "load", MAPPING)
    await cut_off_at("undone", page, "undo")
    assert execute(settings, "SELECT count(*) FROM observations") == [(0,)]
    page = await uploaded(browser)
    await act(browser, page, "preview", MAPPING)
    await cut_off_at("loaded", page, "load", MAPPING)
    assert execute(settings, "SELECT count(*) FROM observations") == [(5,)]
    assert objects(browser) == []
    await act(browser, page, "undo")
    assert state(browser) == "undone"
    assert execute(settings, "SELECT count(*) FROM observations") == [(0,)]


async def test_what_an_unexpected_error_kept_from_being_undone_can_be_undone_later(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    await act(browser, page, "preview", MAPPING)
    await act(browser, page, "load", MAPPING)
    owner = browser.edge.settings
    execute(
        owner,
        "CREATE FUNCTION break_undo() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'refused'; END$$",
    )
    execute(owner, "CREATE TRIGGER break_undo BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION break_undo()")
    await act(browser, page, "undo")
    assert state(browser) == "loaded" and "an unexpected error (RaiseException)" in browser.text
    assert execute(owner, "SELECT count(*) FROM observations") == [(5,)]
    execute(owner, "DROP TRIGGER break_undo ON events")
    await act(browser, page, "undo")
    assert state(browser) == "undone"
    assert execute(owner, "SELECT count(*) FROM observations") == [(0,)]


async def test_a_file_that_was_loaded_before_is_not_undone_by_its_second_upload(browser: Browser) -> None:
    await browser.sign_in()
    for button in (True, False):
        page = await uploaded(browser)
        await act(browser, page, "preview", MAPPING)
        await act(browser, page, "load", MAPPING)
        assert state(browser) == "loaded" and ("Undo this load" in browser.text) is button


async def test_files_and_rows_are_deleted_after_their_time(browser: Browser) -> None:
    await browser.sign_in()
    await uploaded(browser)
    runner = FeedRunner(browser.edge.settings, Log("feeds", stream=io.StringIO()))
    with connect(browser.edge.settings.database_url, application="tests", autocommit=True) as connection:
        runner.sweep(connection)
        [kept] = objects(browser)
        connection.execute("UPDATE uploads SET at = at - interval '91 days'")
        os.utime(kept, times=(time.time() - 8 * 86_400,) * 2)
        runner.sweep(connection)
    assert objects(browser) == [] and execute(browser.edge.settings, "SELECT count(*) FROM uploads") == [(0,)]
