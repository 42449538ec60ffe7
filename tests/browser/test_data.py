"""Data in the dashboard: uploads, pairs, watches and events, bulk data."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from playwright.sync_api import Page, expect

from shared.db.connect import connect
from shared.gtin import check_digit
from tests.browser.conftest import Visitor, new_key, until
from tests.service.articles.support import HEADER as HEADER_MATCHES
from tests.service.articles.support import row, text_of
from tests.service.webhooks.receivers import Receiver, receiver
from tests.support.shop import HEADER, MAPPING, ROWS
from tests.support.world_words import SYLLABLES

pytestmark = pytest.mark.xdist_group("browser")


# Bulk data in the dashboard: datasets and their releases, an export from its preview to its files, the profile file.


@pytest.fixture(scope="module")
def plan(founder: Visitor) -> Iterator[None]:
    """The plan that includes bulk data, for the tests of this file."""
    organizations = json.loads(founder.stack.ctl("orgs", "list", "--json"))
    [acme] = [one["id"] for one in organizations if one["name"].startswith("Acme")]
    founder.stack.ctl("orgs", "set", acme, "--plan", "institutional")
    until(lambda: every_edge_offers_files(founder, True), 60)
    yield
    founder.stack.ctl("orgs", "set", acme, "--plan", "brand")
    until(lambda: every_edge_offers_files(founder, False), 60)


def every_edge_offers_files(visitor: Visitor, offered: bool) -> bool:
    """Return whether the edges know the plan that includes files, or that it ended: nginx sends them calls in turn."""
    address = f"{visitor.origin}/dashboard/datasets"
    pages = [visitor.context.request.get(address).text() for _ in range(12)]
    return all(("Downloads need an organization on the Institutional plan" not in page) is offered for page in pages)


@pytest.fixture
def institutional(plan: None, member: Visitor) -> Visitor:
    """A member whose organization has the plan that includes bulk data."""
    return member


def test_datasets_are_shown_with_size_schema_and_files(institutional: Visitor) -> None:
    institutional.stack.ctl("releases", "cut", "--wait")
    institutional.go("/dashboard/datasets")
    card = institutional.page.locator(".card", has_text="observations").first
    expect(card).to_contain_text(re.compile(r"[\d,]+ rows"))
    institutional.shoot("datasets")
    institutional.check_accessibility()
    institutional.page.get_by_role("link", name="items", exact=True).click()
    expect(institutional.page.get_by_role("rowheader", name="survivor_iid")).to_be_visible()
    institutional.shoot("dataset")
    institutional.check_accessibility()
    with institutional.page.expect_download() as download:
        institutional.page.get_by_role("link", name=re.compile(r"\.parquet$")).first.click()
    assert {"iid", "name"} <= set(parquet.read_schema(download.value.path()).names)


def test_an_export_from_its_preview_to_its_file(institutional: Visitor) -> None:
    page = institutional.page
    institutional.go("/dashboard/exports")
    page.get_by_role("link", name="New export").click()
    expect(page.locator("#preview tbody tr")).to_have_count(10)
    page.locator("#brand").fill("no-such-brand")
    expect(page.locator("#fault-brand")).to_contain_text("is not a known brand")
    page.locator("#brand").fill("vitasoy")
    page.get_by_label("units", exact=True).uncheck()
    page.get_by_role("combobox", name="Format").select_option("csv")
    expect(page.locator("#preview thead")).not_to_contain_text("units")
    expect(page.locator("[data-cost]")).to_have_text("100")
    page.get_by_text("Show as curl").click()
    assert '"brand": ["vitasoy"]' in page.locator("#preview pre").inner_text()
    assert "csrf" not in page.locator("#preview").inner_html()
    institutional.check_width()
    institutional.shoot("export-new-filled")
    institutional.check_accessibility()
    page.get_by_role("button", name="Create export").click()
    page.wait_for_url(re.compile(r"/dashboard/exports/[0-9a-f-]{36}$"))
    expect(page.locator("#job .state")).to_have_text("succeeded")
    institutional.check_every_form("export")
    digest = page.locator("code[title]").first.get_attribute("title")
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile(r"\.csv$")).click()
    content = download.value.path().read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert rows
    assert "units" not in rows[0]
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("button", name="Yes, delete the files").click()
    expect(page.locator("#job .state")).to_have_text("expired")
    institutional.go("/dashboard/exports")
    expect(page.get_by_role("link", name="observations").first).to_be_visible()


def test_a_second_click_is_the_same_export(institutional: Visitor) -> None:
    institutional.go("/dashboard/exports/new?dataset=brands")
    page = institutional.page
    fields = {field: page.locator(f"[name={field}]").first.input_value() for field in ("csrf", "once", "dataset")}
    form = {**fields, "columns": "slug", "format": "csv"}
    reported = [
        institutional.context.request.post(
            f"{institutional.origin}/dashboard/exports",
            form=form,
            max_redirects=0,
            headers={"Origin": institutional.origin},
        )
        for _ in range(2)
    ]
    assert [answer.status for answer in reported] == [303, 303]
    assert reported[0].headers["location"] == reported[1].headers["location"]


def test_the_profile_file_holds_the_visitors_own_key(institutional: Visitor) -> None:
    key = new_key(institutional)
    page = institutional.page
    with page.expect_download() as download:
        page.get_by_role("button", name="profile file").click()
    profile = json.loads(download.value.path().read_bytes())
    assert profile["bearerToken"] == key
    listed = institutional.context.request.get(
        f"{profile['endpoint']}/shares", headers={"Authorization": f"Bearer {profile['bearerToken']}"}
    )
    assert [share["name"] for share in listed.json()["items"]] == ["item-index"]
    institutional.go("/dashboard/datasets")
    page.get_by_label("API key").fill("iixk_live_" + "0" * 48)
    page.get_by_role("button", name="profile file").click()
    expect(page.locator("main")).to_contain_text("not an active key")
    institutional.refused(400)


# An operator drops a file in the dashboard, sees what would be loaded, and loads it.


def test_a_file_is_uploaded_previewed_loaded_and_undone(member: Visitor, tmp_path: Path) -> None:
    page = member.page
    # Larger than any other form that the proxy lets through.
    more = "".join(f"n{number},Note {number},Pad,Paper,Note,,2026-07-01,NORTH,1.50,\n" for number in range(3_000))
    (tmp_path / "browser-prices.csv").write_text(HEADER + ROWS + more)
    text = MAPPING.replace('source = "shop"', 'source = "browser_upload"')
    member.go("/dashboard")
    page.get_by_role("link", name="Data", exact=True).click()
    member.check_accessibility()
    page.set_input_files("#file", tmp_path / "browser-prices.csv")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/dashboard/data/*")
    expect(page.locator("#mapping")).to_be_visible()  # the page follows the work by itself
    page.fill("#mapping", text)
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator("[data-state=previewed]")).to_be_visible()
    expect(page.get_by_role("heading", name="What a load would do")).to_be_visible()
    expect(page.get_by_role("region", name="Items")).to_contain_text("Soy milk 1L")
    member.check_every_form("upload")
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.locator("[data-state=loaded]")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the mapping").click()
    assert download.value.suggested_filename == "browser-prices.toml"
    assert download.value.path().read_text() == text
    page.get_by_text("Undo this load").click()
    page.get_by_role("button", name="Yes, undo it").click()
    expect(page.locator("[data-state=undone]")).to_be_visible()
    assert member.faults == []


def test_doubts_are_decided_by_a_click(member: Visitor, tmp_path: Path) -> None:
    page = member.page
    rows = "1,Soap,2.50,03/04/2026,N,Home / Soap\n2,Candle,3.50,05/04/2026,N,Home / Candle\n"
    (tmp_path / "doubtful.csv").write_text(f"id,name,price,date,shop,category\n{rows}")
    member.go("/dashboard/data")
    page.set_input_files("#file", tmp_path / "doubtful.csv")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/dashboard/data/*")
    expect(page.locator("[data-state=refused]")).to_be_visible()
    member.shoot("upload-doubts")
    member.check_accessibility()
    member.check_width()
    member.hold_dark_phone()
    member.shoot("upload-doubts-dark-phone")
    member.check_accessibility()
    member.check_width()
    member.hold_wide_light()
    page.get_by_label("Home > Soap").check()
    page.get_by_label('"03/04/2026" is 2026-04-03').check()
    page.get_by_label("all prices are in EUR").check()
    page.get_by_role("button", name="Preview with these choices").click()
    expect(page.locator("[data-state=previewed]")).to_be_visible()
    expect(page.get_by_role("region", name="Prices")).to_contain_text("2026-04-03")
    expect(page.get_by_role("region", name="Items")).to_contain_text("home.soap")
    expect(page.get_by_role("radio")).to_have_count(0)
    member.check_accessibility()
    assert member.faults == []


# An operator works through the queue of pairs with the keyboard alone.


PAIRS = 12  # more than the last decisions that the page lists

SHOWN = "[...document.querySelectorAll('.pair thead a')].map((link) => link.textContent).join(' ')"


def pair(page: Page) -> str:
    """Return the IIDs that the page asks about; empty where no pair waits."""
    shown: str = page.evaluate(SHOWN)
    return shown


def press(page: Page, key: str) -> str:
    """Press a key, wait for another pair, or for the end of the queue, and return it."""
    before = pair(page)
    with page.expect_navigation():
        page.keyboard.press(key)
    until(lambda: pair(page) != before, 60.0)
    return pair(page)


def tab_to(page: Page, text: str) -> None:
    """Press Tab until a link or button of this text has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if text in page.evaluate("document.activeElement.textContent"):
            return
    raise AssertionError(f"Tab does not reach {text!r}")


def load_pairs(visitor: Visitor, folder: Path) -> None:
    """Load two shops that give each of these GTINs to two sizes, which waits for a person."""
    for source, size in (("queue_a", "1L"), ("queue_b", "2L")):
        rows = ""
        for number in range(PAIRS):
            digits = f"40063813{number:04d}"
            syllables = [SYLLABLES[(number * 7 + at * 11) % len(SYLLABLES)] for at in range(4)]
            name = f"{''.join(syllables[:2])} {''.join(syllables[2:])}{number} {size}"
            rows += row(f"{source}-{number}", f"{digits}{check_digit(digits)}", name)
        (folder / f"{source}.csv").write_text(HEADER_MATCHES + rows)
        (folder / f"{source}.toml").write_text(text_of(source))
        visitor.stack.ctl("ingest", "run", "--mapping", f"{folder}/{source}.toml", f"{folder}/{source}.csv")


def test_a_queue_is_worked_through_by_keys_alone(member: Visitor, tmp_path: Path) -> None:
    load_pairs(member, tmp_path)
    member.go("/dashboard")
    tab_to(member.page, "Matches")
    member.page.keyboard.press("Enter")
    member.page.wait_for_url("**/dashboard/matches")
    page = member.page
    member.check_accessibility()
    page.set_viewport_size({"width": 390, "height": 844})
    for side in page.locator("table.pair tbody tr").first.locator("td").all()[:2]:
        box = side.bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, "both items are in sight on a phone"
    member.check_width()
    member.hold_wide_light()

    first = pair(page)
    second = press(page, "j")
    assert second != first
    assert press(page, "k") == first
    assert press(page, "j") == second
    third = press(page, "n")
    assert press(page, "u") == second != third  # the decision is taken back, so the pair waits again
    decided = 0
    while pair(page):
        press(page, "n")
        decided += 1
    tab_to(page, "Start over")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert pair(page) == first
    assert press(page, "n") == ""
    assert decided + 1 >= PAIRS
    assert json.loads(member.stack.ctl("matches", "list", "--json")) == []
    with connect(member.stack.state["environment"]["DATABASE_URL"], application="tests", autocommit=True) as database:
        until(lambda: database.execute("SELECT 1 FROM match_reviews WHERE applied_at IS NULL").fetchall() == [], 60.0)
    assert json.loads(member.stack.ctl("matches", "list", "--counts", "--json"))[0]["rejected"] == decided + 1


# Watches, events and webhooks in the dashboard, against a real receiver.


@pytest.fixture
def there() -> Iterator[Receiver]:
    """A receiver that refuses the first call and accepts the others."""
    with receiver(lambda call: 500 if call == 0 else 200, answer=b"<b>thank you</b>") as running:
        yield running


def test_a_watch_is_made_from_a_record_paused_and_deleted(member: Visitor) -> None:
    page = member.page
    member.go("/dashboard/explorer?q=soy+milk")
    page.locator(".hits a").first.click()
    page.get_by_role("link", name="Watch this item").click()
    expect(page.get_by_label("Target")).to_have_value(re.compile("^IID-"))
    page.get_by_label("Amount").fill("nine")
    page.get_by_label("Label").fill('My <i>"soy"</i>')
    page.get_by_role("button", name="Create watch").click()
    expect(page.locator("#fault-amount")).not_to_be_empty()
    expect(page.get_by_label("Label")).to_have_value('My <i>"soy"</i>')
    member.shoot("watch-new-fault")
    member.check_accessibility()
    member.refused(400)
    page.get_by_label("Amount").fill("9.50")
    page.get_by_role("button", name="Create watch").click()
    row = page.get_by_role("row").filter(has_text='My <i>"soy"</i>')
    expect(row).to_contain_text("listings below 9.50 HKD")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    member.shoot("watches-one")
    member.check_accessibility()
    row.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Yes, delete").click()
    expect(page.get_by_text("No watches yet")).to_be_visible()


def test_a_watch_keeps_what_was_typed_when_another_condition_is_chosen_and_completes_its_code(member: Visitor) -> None:
    page = member.page
    member.go("/dashboard/watches/new?target=brand")
    page.get_by_label("Target").press_sequentially("vitas", delay=30)
    expect(page.locator("#options-code option[value=vitasoy]")).to_have_count(1)
    page.get_by_label("Target").fill("vitasoy")
    page.get_by_label("Currency").fill("HKD")
    page.get_by_role("link", name="Prices moved").click()
    expect(page.get_by_label("Percent")).to_be_visible()
    expect(page.get_by_label("Target")).to_have_value("vitasoy")
    expect(page.get_by_label("Currency")).to_have_value("HKD")
    assert page.locator("#target option[value=article]").count() == 0


def test_a_webhook_from_its_secret_to_an_event_that_is_sent_again(member: Visitor, there: Receiver) -> None:
    page = member.page
    member.go("/dashboard/webhooks")
    page.get_by_label("URL").fill(there.url)
    page.get_by_label("key.rotated").check()
    page.get_by_role("button", name="Add webhook").click()
    secret = page.locator("[data-secret]").inner_text()
    assert secret.startswith("whsec_")
    member.shoot("webhooks-secret")
    member.check_accessibility()
    page.reload()
    assert page.locator("[data-secret]").count() == 0
    page.get_by_role("link", name=there.url).click()
    new_key(member)
    new_key(member)  # the first may be an issued one, the second is a rotation
    until(lambda: len(there.accepted) >= 1, 60)
    page.go_back()
    member.go("/dashboard/webhooks")
    page.get_by_role("link", name=there.url).click()
    attempts = page.get_by_role("region", name="Attempts")
    expect(attempts).to_contain_text("accepted")
    expect(attempts).to_contain_text("<b>thank you</b>")
    member.check_every_form("webhook")
    arrived = len(there.accepted)
    attempts.get_by_role("button", name=re.compile("Redeliver")).first.click()
    expect(page.get_by_role("status").filter(has_text="queued for redelivery")).to_be_visible()
    until(lambda: len(there.accepted) > arrived, 60)
    identifiers = [head["webhook-id"] for head, _ in there.accepted]
    assert len(set(identifiers)) < len(identifiers), "the same event, under its own id"
    page.get_by_text("Replace secret", exact=True).click()
    page.get_by_role("button", name="Yes, replace it").click()
    assert page.locator("[data-secret]").inner_text() != secret
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Yes, delete").click()
    expect(page.get_by_text("No webhooks yet")).to_be_visible()
    member.go("/dashboard/events?type=key.rotated")
    expect(page.get_by_role("link", name=re.compile("is the new key")).first).to_be_visible()
    member.shoot("events-keys")
