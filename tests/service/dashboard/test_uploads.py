"""Operators load files in the dashboard: what is shown is what is loaded, and nothing is before they say so."""

import asyncio
import gzip
import html
import io
import os
import re
import shutil
import time
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from edge.connection import EdgeHandler
from edge.dashboard.page_requests import redirect
from edge.dashboard.uploads import UploadPages
from edge.storage.database import Database
from shared.db.connect import connect
from shared.mapping_doubts import Doubt, Reading
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.dashboard.browser import Browser
from tests.support.database import execute
from tests.support.passes import file_passes
from tests.support.shop import HEADER, MAPPING, ROWS
from tests.support.workers import serve_due
from workers.ingest.feeds.runner import FeedRunner
from workers.ingest.files import read_file
from workers.ingest.guess import guess as guessing
from workers.ingest.guess.guess import Guess

PAGE = "/dashboard/data"
BYTES_MAX = 300_000
FILE = (HEADER + ROWS).encode()
_PASSES_MAX = 18


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


def kept_on_disk(browser: Browser) -> list[Path]:
    """Return the folders of the files that are kept between a preview and a load, the oldest first."""
    kept = browser.edge.settings.feeds_dir.glob("itemindex-upload-*")
    return sorted(kept, key=lambda path: path.stat().st_mtime)


async def test_an_uploaded_file_passes_from_file_to_file_at_most_eighteen_times_until_its_row_is_there(
    browser: Browser,
) -> None:
    await browser.sign_in()
    await browser.ask("GET", PAGE)
    with file_passes() as passed:
        assert await upload(browser, csrf=browser.csrf()) == 303
    [task] = [task for name, task in passed if name == UploadPages.receive.__qualname__]
    arrival = EdgeHandler.data_received.__qualname__  # by aiohttp, however the bytes arrive
    called = [name for name, of in passed if of is task and name != arrival]
    passes = called[called.index(UploadPages.receive.__qualname__) : called.index(redirect.__qualname__) + 1]
    assert Database.fetch.__qualname__ in passes
    assert len(passes) <= _PASSES_MAX, passes


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
    assert "is 2026-04-03" in browser.text
    await browser.ask("GET", f"{page}/mapping.toml")
    guessed = browser.text
    await browser.ask("GET", page)
    # Each names the column that it is about: the fifth is the day, the seventh the category.
    asked = re.findall(r'name="(decision-column-\d-\d)" value="([^"]*)"', browser.text)
    assert [name for name, _ in asked] == ["decision-column-4-1"] * 2 + ["decision-column-6-1"] * 2
    first, second, path, kept = (html.unescape(value) for _, value in asked)
    assert kept.startswith("category: is") and first.startswith("day = ") and second.startswith("day = ")
    assert first != second
    unknown = {"decision_column_6_1": kept, "decision_column_4_1": "day = { load_day = true }"}
    assert await act(browser, page, "preview", guessed, **unknown) == 409
    answered = {"decision_column_6_1": kept, "decision_column_4_1": second}
    assert await act(browser, page, "preview", guessed.replace("\n", "\r\n"), **answered) == 303
    assert state(browser) == "previewed"
    assert "4 Mar 2026" in browser.text and "decision-" not in browser.text
    assert await act(browser, page, "load", guessed) == 409
    decided = _of_page(browser)
    assert "CHECK" not in decided and 'category = "category"' in decided and path not in decided
    assert await act(browser, page, "load", decided) == 303
    assert execute(browser.edge.settings, "SELECT day::text FROM observations") == [("2026-03-04",)]


def menus(browser: Browser) -> dict[str, str]:
    """Return what the menus above the columns have chosen, by the names of the columns."""
    heads = re.findall(
        r'<label for="column-\d+"><bdi>(.*?)</bdi></label>\s*<select.*?</select>', browser.text, re.DOTALL
    )
    chosen = re.findall(r'<select id="column-\d+".*?</select>', browser.text, re.DOTALL)
    values = (re.search(r'<option value="([^"]*)" selected>', menu) for menu in chosen)
    return dict(zip(heads, (value[1] if value else "" for value in values), strict=True))


async def test_the_first_rows_stand_below_menus_that_write_the_mapping(browser: Browser) -> None:
    await browser.sign_in()
    content = b"id,name,maker,price,currency,date,shop\n1,Soy <milk>,Vita,2.50,EUR,2026-07-01,N\n2,Tea,Leaf,x,EUR,2026-07-01,N\n"
    page = await uploaded(browser, content)
    assert state(browser) == "previewed"
    shown = menus(browser)
    assert shown["id"] == "item.id" and shown["price"] == "observation.price" and shown["shop"] == "observation.channel"
    assert "Soy &lt;milk&gt;" in browser.text and "<milk>" not in browser.text
    await browser.ask("GET", f"{page}/mapping.toml")
    guessed = browser.text
    await browser.ask("GET", page)
    numbers = {name: f"column_{number}" for number, name in enumerate(shown)}
    chosen = {numbers[name]: key for name, key in shown.items()} | {numbers["maker"]: "item.attributes"}
    assert await act(browser, page, "preview", guessed, **chosen, license="CC BY 4.0") == 303
    assert state(browser) == "previewed" and menus(browser) == shown | {"maker": "item.attributes"}
    text = html.unescape(browser.text)
    assert 'maker = "maker"' in text and 'license = "CC BY 4.0"' in text and 'value="CC BY 4.0"' in text
    await browser.ask("GET", f"{page}/mapping.toml")
    mapping = browser.text
    await browser.ask("GET", page)
    # A menu that was changed after the preview is a mapping that was not previewed.
    assert await act(browser, page, "load", mapping, **{numbers["maker"]: ""}) == 409
    assert await act(browser, page, "load", mapping) == 303
    assert execute(browser.edge.settings, "SELECT attributes FROM items ORDER BY id LIMIT 1") == [({"maker": "Vita"},)]


async def test_why_rows_are_refused_stands_first_and_counted_with_an_example(browser: Browser) -> None:
    await browser.sign_in()
    wrong = "".join(f"{number},Tea,Leaf,D,T,1,2026-07-01,NORTH,{price},\n" for number, price in ((7, "x"), (8, "y")))
    page = await uploaded(browser, FILE + wrong.encode())
    await act(browser, page, "preview", MAPPING)
    assert state(browser) == "previewed"
    reasons = browser.text.partition('id="reasons"')[2].partition("</section>")[0]
    assert re.search(r'<td class="number">2</td><td>price</td><td class="long"><bdi>x</bdi>', reasons), reasons
    assert browser.text.index('id="reasons"') < browser.text.index('id="columns"')


def _of_page(browser: Browser) -> str:
    return html.unescape(browser.text.partition('aria-describedby="about-mapping">\n')[2].partition("</textarea>")[0])


async def test_a_file_that_names_no_shop_is_asked_for_it(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser, b"id,name,price,currency,date\n1,Soy milk,2.50,EUR,2026-07-01\n")
    assert state(browser) == "previewed" and "Which shop are these prices of?" in browser.text
    mapping = _of_page(browser)
    assert await act(browser, page, "preview", mapping, shop=" Kasse <Nord> ") == 303
    assert state(browser) == "previewed"
    assert 'value="Kasse &lt;Nord&gt;"' in browser.text and "Without an answer" not in browser.text
    mapping = _of_page(browser)
    assert await act(browser, page, "load", mapping, shop="Kasse <Nord>") == 303
    assert execute(browser.edge.settings, "SELECT code FROM channels") == [("Kasse <Nord>",)]


async def test_a_menu_changes_a_field_that_has_a_table_of_its_own(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    text = (
        MAPPING.replace('brand = "brand"\n', "")
        + '[item.brand]\ncolumn = "brand"\n[item.brand.crosswalk]\nVita = "V"\n'
    )
    await act(browser, page, "preview", text)
    assert menus(browser)["brand"] == "item.brand"
    assert await act(browser, page, "preview", text, column_2="item.product_type") == 303
    assert state(browser) == "previewed" and menus(browser)["brand"] == "item.product_type"
    assert "crosswalk" not in _of_page(browser)


async def test_a_menu_that_only_the_text_can_follow_is_refused_with_what_to_do(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    text = MAPPING.replace('category = ["group", "kind"]', 'category = { columns = ["group", "kind"] }')
    await act(browser, page, "preview", text)
    assert await act(browser, page, "preview", text, column_2="item.category") == 409
    said = html.unescape(browser.text)
    assert "brand" in said and "The mapping as text, for experts" in said


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
    doubts = (
        Doubt("day", "<b>03/04</b> is of March or of April"),
        Doubt("day", "which?", (Reading('day = "<i>"', '"><script>'),), "observation"),
    )
    guessed = Guess((*doubts, MAPPING), None)
    monkeypatch.setattr("workers.ingest.feeds.uploads.guess", lambda path, **options: guessed)
    await browser.sign_in()
    page = await uploaded(browser, FILE.replace(b"Soy milk 1L", b"<i>Soy</i>"))
    assert "<li>day: &lt;b&gt;03/04&lt;/b&gt; is of March or of April</li>" in browser.text
    assert (
        'value="day = &#34;&lt;i&gt;&#34;"' in browser.text
        and "<strong>&#34;&gt;&lt;script&gt;</strong>" in browser.text
    )
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
    for kept in kept_on_disk(browser):
        shutil.rmtree(kept)
    await act(browser, page, "preview", MAPPING)
    assert state(browser) == "refused" and "upload it again" in browser.text


async def test_a_file_is_fetched_and_sampled_once_and_read_once_for_each_preview_and_load(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()

    def counted(owner: Any, name: str) -> None:
        made = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            calls[name] += 1
            return made(*given, **named)

        monkeypatch.setattr(owner, name, call)

    counted(DirectoryStore, "open")
    counted(guessing, "sample_of")
    counted(read_file, "read")
    await browser.sign_in()
    page = await uploaded(browser)
    await act(browser, page, "preview", MAPPING)
    assert calls == {"open": 1, "sample_of": 1, "read": 1}
    await act(browser, page, "load", MAPPING)
    assert state(browser) == "loaded"
    assert calls == {"open": 1, "sample_of": 1, "read": 2}


async def test_a_file_is_kept_on_disk_until_it_is_loaded_or_nobody_asks_for_it(browser: Browser) -> None:
    await browser.sign_in()
    page = await uploaded(browser)
    assert len(kept_on_disk(browser)) == 1
    await act(browser, page, "preview", MAPPING)
    await act(browser, page, "load", MAPPING)
    assert kept_on_disk(browser) == []
    for number in range(6):
        await uploaded(browser, name=f"{number}.csv")
    assert [path.name for kept in kept_on_disk(browser) for path in kept.iterdir()] == [
        f"{n}.csv" for n in (2, 3, 4, 5)
    ]
    runner = FeedRunner(browser.edge.settings, Log("feeds", stream=io.StringIO()))
    [oldest, *_] = kept_on_disk(browser)
    os.utime(oldest, times=(time.time() - 3_700,) * 2)
    with connect(browser.edge.settings.database_url, application="tests", autocommit=True) as connection:
        runner.sweep(connection)
    assert len(kept_on_disk(browser)) == 3 and not oldest.exists()


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
