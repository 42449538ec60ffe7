"""An operator runs the service from the browser: an act is done while the page waits, and shows what became of it."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.xdist_group("browser")


def test_an_operator_suspends_an_organization_and_reads_a_load(member: Visitor) -> None:
    page = member.page
    member.go("/dashboard/operator/organizations")
    page.get_by_role("searchbox", name="Name or id").fill("Turing")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("link", name="Turing Studio").click()
    member.check_every_form("operator-organization")
    member.hold_wide_light()
    page.get_by_text("Suspend", exact=True).click()
    page.get_by_role("button", name="Yes, suspend").click()
    expect(page.get_by_text("Done: Suspend Turing Studio")).to_be_visible()  # the page follows the act by itself
    page.get_by_role("button", name="Activate again").click()
    expect(page.get_by_text("Done: Activate Turing Studio")).to_be_visible()
    member.go("/dashboard/operator/loads")
    page.get_by_role("link", name="Factors of rivm_food_footprints").click()
    expect(page.get_by_role("heading", name="Why rows were refused")).to_be_visible()
    member.check_every_form("operator-load")
    assert member.faults == []
