"""Bulk data in the dashboard: datasets and their releases, an export from its preview to its files, the profile file."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator

import pyarrow.parquet as parquet
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, new_key, until

pytestmark = pytest.mark.xdist_group("browser")


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
    expect(page.locator("#job .state")).to_have_text("done")
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


def test_the_link_of_a_mail_ends_mails_of_its_kind_for_somebody_who_is_not_signed_in(
    institutional: Visitor, visitor: Visitor
) -> None:
    page = institutional.page
    institutional.go("/dashboard/mails")
    page.get_by_label("Finished exports").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Finished exports")).to_be_checked()
    institutional.go("/dashboard/exports/new?dataset=brands")
    page.get_by_role("button", name="Create export").click()
    expect(page.locator("#job .state")).to_have_text("done")
    mail = page.locator("article pre", has_text="Unsubscribe: ")

    def is_kept() -> bool:
        institutional.go("/dashboard/outbox")
        return mail.count() > 0

    until(is_kept)
    end = re.search(r"Unsubscribe: (\S+)", mail.first.inner_text())
    assert end is not None
    visitor.page.goto(end[1])
    expect(visitor.page.get_by_role("heading", name="End the mails “Finished exports”?")).to_be_visible()
    visitor.check_every_form("unsubscribe")
    institutional.go("/dashboard/mails")
    expect(page.get_by_label("Finished exports"), "opening the link ends nothing").to_be_checked()
    for _ in range(2):
        visitor.page.get_by_role("button", name="Unsubscribe").click()
        expect(visitor.page.get_by_role("heading", name="These mails have ended")).to_be_visible()
        visitor.check_every_form("unsubscribed")
        visitor.page.goto(end[1])
    page.reload()
    expect(page.get_by_label("Finished exports")).not_to_be_checked()


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
