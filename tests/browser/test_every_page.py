"""Every page, wide and on a phone, in light and in dark: no serious fault of accessibility, nothing beside the window.

The pages are those of the routes. A page whose content a test must make first is checked by that test, which is named here.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from edge.app import DOCUMENT, SERVICES, routes
from tests.browser.conftest import Visitor
from tests.support.openapi import application

pytestmark = pytest.mark.xdist_group("browser")
# The addresses by which each route's page is opened.
OPEN = {
    "/": "/",
    "/search": "/search /search?q=milk",
    "/items/{iid}": "/items/IID-99D2F-46WJ3-4S6N3",
    "/brands": "/brands",
    "/brands/{slug}": "/brands/vitasoy",
    "/categories": "/categories",
    "/categories/{code}": "/categories/dairy-soy-products-eggs",
    "/v1/docs": "/v1/docs",
    "/v1/docs/search": "/v1/docs/search /v1/docs/search?q=webhook",
    "/v1/docs/guides": "/v1/docs/guides",
    "/v1/docs/guides/{guide}": "/v1/docs/guides/bulk-data",
    "/v1/clients/": "/v1/clients/",
    "/v1/errors": "/v1/errors",
    "/v1/errors/{slug}": "/v1/errors/invalid-parameter",
    "/dashboard/signed-out": "/dashboard/signed-out",
}
SIGNED_IN = {
    "/dashboard": "/dashboard",
    "/dashboard/audit": "/dashboard/audit",
    "/dashboard/brands": "/dashboard/brands",
    "/dashboard/brands/{slug}": "/dashboard/brands/vitasoy",
    "/dashboard/categories": "/dashboard/categories",
    "/dashboard/categories/{code}": "/dashboard/categories/food",
    "/dashboard/connect": "/dashboard/connect",
    "/dashboard/data": "/dashboard/data",
    "/dashboard/datasets": "/dashboard/datasets",
    "/dashboard/datasets/{name}": "/dashboard/datasets/observations",
    "/dashboard/events": "/dashboard/events",
    "/dashboard/explorer": "/dashboard/explorer /dashboard/explorer?q=milk",
    "/dashboard/explorer/{iid}": "/dashboard/explorer/IID-99D2F-46WJ3-4S6N3",
    "/dashboard/exports": "/dashboard/exports",
    "/dashboard/exports/new": "/dashboard/exports/new",
    "/dashboard/invitation": "/dashboard/invitation",
    "/dashboard/jobs": "/dashboard/jobs",
    "/dashboard/key": "/dashboard/key",
    "/dashboard/mails": "/dashboard/mails",
    "/dashboard/matches": "/dashboard/matches",
    "/dashboard/members": "/dashboard/members",
    "/dashboard/operator": "/dashboard/operator",
    "/dashboard/operator/acts": "/dashboard/operator/acts",
    "/dashboard/operator/feeds": "/dashboard/operator/feeds",
    "/dashboard/operator/health": "/dashboard/operator/health",
    "/dashboard/operator/jobs": "/dashboard/operator/jobs",
    "/dashboard/operator/loads": "/dashboard/operator/loads",
    "/dashboard/operator/organizations": "/dashboard/operator/organizations",
    "/dashboard/operator/models": "/dashboard/operator/models",
    "/dashboard/operator/people": "/dashboard/operator/people",
    "/dashboard/operator/plans": "/dashboard/operator/plans",
    "/dashboard/operator/releases": "/dashboard/operator/releases",
    "/dashboard/operator/requests": "/dashboard/operator/requests",
    "/dashboard/organizations/new": "/dashboard/organizations/new",
    "/dashboard/outbox": "/dashboard/outbox",
    "/dashboard/plan": "/dashboard/plan",
    "/dashboard/questions": "/dashboard/questions /dashboard/questions?question=cost&what=brand:vitasoy&when=own",
    "/dashboard/reports": "/dashboard/reports /dashboard/reports?kind=cohorts&brand=vitasoy",
    "/dashboard/requests": "/dashboard/requests",
    "/dashboard/sessions": "/dashboard/sessions",
    "/dashboard/token": "/dashboard/token",
    "/dashboard/usage": "/dashboard/usage",
    "/dashboard/watches": "/dashboard/watches",
    "/dashboard/watches/new": "/dashboard/watches/new?condition=new-low",
    "/dashboard/webhooks": "/dashboard/webhooks",
}
ELSEWHERE = {
    "/v1/docs/reference": "test_docs.py::test_the_reference_begins_as_a_list_that_is_searched_and_opens_a_call",
    "/dashboard/unsubscribe": "test_bulk_data.py::test_the_link_of_a_mail_ends_mails_of_its_kind_for_somebody_who_is_not_signed_in",
    "/dashboard/sign-in": "test_sign_in_page.py::test_the_sign_in_page_has_the_products_look_and_says_what_is_wrong",
    "/dashboard/sign-up": "test_sign_in_page.py::test_a_visitor_registers_from_the_front_page_and_creates_an_organization",
    "/dashboard/jobs/{id}": "test_reports.py::test_a_report_from_its_price_to_its_pictures",
    "/dashboard/jobs/{id}/rows/{row}": "test_reports.py::test_a_report_of_all_brands_shows_its_data_at_first_look",
    "/dashboard/exports/{id}": "test_bulk_data.py::test_an_export_from_its_preview_to_its_file",
    "/dashboard/webhooks/{id}": "test_watches.py::test_a_webhook_from_its_secret_to_an_event_that_is_sent_again",
    "/dashboard/data/{id}": "test_uploads.py::test_a_file_is_uploaded_previewed_loaded_and_undone",
    "/dashboard/operator/loads/{id}": "test_operator.py::test_an_operator_suspends_an_organization_and_reads_a_load",
    "/dashboard/operator/organizations/{id}": "test_operator.py::test_an_operator_suspends_an_organization_and_reads_a_load",
    "/dashboard/{unknown:.*[^/]}": "test_sign_in_page.py::test_an_unknown_page_keeps_the_navigation",
}
# Redirects, files, and the parts that a page fetches for itself: no page of their own.
NO_PAGES = {
    "/_buckets",
    "/.well-known/api-catalog",
    "/.well-known/release-keys.json",
    "/.well-known/security.txt",
    "/favicon.ico",
    "/llms.txt",
    "/releases",
    "/releases/",
    "/releases/{key:.+}",
    "/robots.txt",
    "/v1/clients",
    "/v1/clients/{file}",
    "/v1/docs/reference/openapi.json",
    "/dashboard/brands/{slug}/prices/{kind}",
    "/dashboard/categories/{code}/prices/{kind}",
    "/dashboard/completions/{list}",
    "/dashboard/data/{id}/mapping.toml",
    "/dashboard/data/{id}/state",
    "/dashboard/datasets/{name}/{release}/{file}",
    "/dashboard/explorer/suggestions",
    "/dashboard/explorer/{iid}/history",
    "/dashboard/exports/preview",
    "/dashboard/exports/{id}/files/{file}",
    "/dashboard/exports/{id}/state",
    "/dashboard/jobs/{id}/files/{kind}",
    "/dashboard/jobs/{id}/result",
    "/dashboard/jobs/{id}/state",
    "/dashboard/operator/acts/recent",
    "/dashboard/questions/suggestions",
    "/dashboard/reports/preview",
    "/dashboard/sign-in/callback",
    "/dashboard/usage.csv",
}


def addresses(pages: dict[str, str]) -> list[str]:
    """The addresses of all pages, one test each."""
    return [address for listed in pages.values() for address in listed.split()]


def test_no_page_is_forgotten() -> None:
    edge = application()
    listed = routes(edge[SERVICES], edge[DOCUMENT])
    found = {
        one.path for one in listed if one.method == "GET" and (one.rule.page or one.rule.name in ("docs", "errors"))
    }
    found = {path for path in found if not path.endswith(".js")}
    assert found == OPEN.keys() | SIGNED_IN.keys() | ELSEWHERE.keys() | NO_PAGES
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        text = Path(__file__).with_name(file).read_text(encoding="utf-8").partition(f"def {name}(")[2]
        assert ".check_every_form(" in text.partition("\ndef test_")[0], test


def test_a_phone_does_not_show_the_menu_open_until_the_script_runs(member: Visitor) -> None:
    """The page would jump by the height of the menu when the script closes it."""
    member.page.set_viewport_size({"width": 390, "height": 844})
    member.page.route("**/static/dashboard.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    try:
        member.go("/dashboard")
        expect(member.page.locator("[data-menu]")).to_be_visible()
        expect(member.page.locator("#pages")).to_be_hidden()
    finally:
        member.page.unroute("**/static/dashboard.js")


@pytest.mark.parametrize("address", addresses(OPEN))
def test_a_page_is_accessible_in_every_form(reader: Visitor, address: str) -> None:
    reader.go(address)
    expect(reader.page.get_by_role("heading", level=1)).to_be_visible()
    reader.check_every_form(address)


@pytest.mark.parametrize("address", addresses(SIGNED_IN))
def test_a_page_of_a_member_is_accessible_in_every_form(member: Visitor, address: str) -> None:
    member.go(address)
    expect(member.page.get_by_role("heading", level=1)).to_be_visible()
    member.check_every_form(address)


# Each element marked as a fault differs in one way from others that look the same in all else and pass.
COLOURS = f"""<!doctype html><html lang="en"><title>Colours</title><style>
  body {{ background: #fff; color: #222 }} p {{ margin: 0 }}
  .pale {{ color: #bbb }} .dark {{ background: #333 }} .faint {{ opacity: .2 }}
  .large {{ color: #888; font-size: 40px }} .small {{ color: #888; font-size: 12px }}
  .over {{ position: absolute; top: 800px }} .box {{ position: absolute; top: 890px; width: 400px; height: 60px }}
  .box + .over {{ top: 900px }}
</style><main><h1>Colours</h1>{"<p>Passes</p>" * 20}<p class="large">Passes</p><p class="over">Passes</p>
<div><p>Passes</p></div>
<p class="pale">fault: colour</p><div class="dark"><p>fault: background</p></div>
<div class="faint"><p>fault: opacity</p></div><p class="small">fault: size</p>
<div class="box dark"></div><p class="over">fault: on another box</p></main></html>"""


def test_a_fault_of_contrast_is_found_among_elements_that_pass(reader: Visitor) -> None:
    reader.page.goto("about:blank")
    reader.page.set_content(COLOURS)
    for _ in ("at first", "again"):
        [(rule, elements)] = reader.accessibility_faults()
        assert rule == "color-contrast"
        found = [re.sub("<[^>]*>", "", element) for element in elements]
        assert found == [f"fault: {name}" for name in ("colour", "background", "opacity", "size", "on another box")]
