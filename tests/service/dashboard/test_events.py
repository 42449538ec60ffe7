"""Pages of the watches: made once, paused, deleted, within the rights of the role and the plan; their events in words."""

import json
import re

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import SOY, contents, member, visit
from tests.service.dashboard.test_forms import fault
from tests.support.database import execute

__all__ = ["contents"]

PAGE = "/dashboard/watches"


async def form(browser: Browser, **fields: str) -> dict[str, str]:
    await browser.ask("GET", f"{PAGE}/new?condition={fields.get('condition', 'below')}")
    return browser.form(**fields)


async def test_a_watch_is_made_once_however_often_its_form_is_sent_and_the_audit_log_names_the_person(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    sent = await form(
        browser, condition="below", target="article", code=SOY.lower(), amount="9.50", currency="HKD", label="Soy"
    )
    for _ in range(2):
        assert await browser.ask("POST", PAGE, sent) == 303
    assert await browser.ask("GET", PAGE) == 200
    assert "listings below 9.50 HKD" in browser.text and SOY in browser.text
    assert execute(settings, "SELECT label, amount_minor FROM watches") == [("Soy", 950)]
    assert execute(settings, "SELECT actor, actor_id IS NOT NULL FROM audit WHERE act = 'watch.created'") == [
        ("Ada", True)
    ]


async def test_a_watch_is_paused_resumed_and_deleted(browser: Browser, settings: Settings) -> None:
    await member(browser)
    sent = await form(browser, condition="new-low", target="brand", code="vita", days="90", currency="HKD")
    assert await browser.ask("POST", PAGE, sent) == 303
    [(watch,)] = execute(settings, "SELECT id::text FROM watches")
    for paused, shown in (("true", "Resume"), ("false", "Pause")):
        assert await browser.ask("POST", f"{PAGE}/{watch}", {"csrf": sent["csrf"], "paused": paused}) == 303
        await browser.ask("GET", PAGE)
        assert f">{shown}<" in browser.text
    assert await browser.ask("POST", f"{PAGE}/{watch}/removal", {"csrf": sent["csrf"]}) == 303
    await browser.ask("GET", PAGE)
    assert "No watches yet" in browser.text
    assert await browser.ask("POST", f"{PAGE}/{watch}/removal", {"csrf": sent["csrf"]}) == 404


async def test_a_fault_is_shown_beside_its_field_and_typed_values_are_kept(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    for fields, field, text in (
        (
            {"target": "brand", "code": "none", "amount": "1", "currency": "HKD"},
            "code",
            "is not a known brand; type its first",
        ),
        ({"target": "brand", "code": "vita", "amount": "1", "currency": "hk"}, "currency", ""),
        (
            {"target": "brand", "code": "vita", "amount": "12,50", "currency": "hkd"},
            "amount",
            "an amount such as 12.50",
        ),
        ({"target": "brand", "code": "vita", "currency": "HKD"}, "amount", "is required"),
        ({"target": "brand", "amount": "1.234", "currency": "HKD", "code": "vita"}, "amount", "at most 2 decimals"),
        ({"target": "brand", "amount": "1", "currency": "HKD"}, "code", ""),
        ({"condition": "returned", "target": "brand", "code": "vita", "days": "x"}, "days", "whole number"),
        ({"condition": "index-moved", "target": "brand", "code": "vita", "percent": "x"}, "percent", ""),
    ):
        sent = await form(browser, **{"condition": "below", **fields, "label": 'my "own"'})
        assert await browser.ask("POST", PAGE, sent) == 400, fields
        assert fault(browser, field) and text in fault(browser, field), fields
        assert 'value="my &#34;own&#34;"' in browser.text, fields
        assert execute(settings, "SELECT FROM watches") == [], fields


async def test_a_percentage_may_have_every_decimal_that_json_may_have(browser: Browser, settings: Settings) -> None:
    await member(browser)
    fields = {"target": "brand", "code": "vita", "currency": "hkd", "percent": "0.12345678901234567"}
    assert await browser.ask("POST", PAGE, await form(browser, condition="index-moved", **fields)) == 303
    assert execute(settings, "SELECT percent::float FROM watches") == [(pytest.approx(0.12345678901234567),)]


async def test_a_form_of_an_unknown_condition_is_refused(browser: Browser, settings: Settings) -> None:
    await member(browser)
    assert (
        await browser.ask(
            "POST", PAGE, await form(browser, condition="none", target="brand", code="vita", amount="1", currency="HKD")
        )
        == 400
    )
    assert execute(settings, "SELECT FROM watches") == []


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("UPDATE members SET role = 'viewer'", "Your role (viewer) has read-only access"),
        ("UPDATE organizations SET plan = 'free'", "does not include this. An owner requests"),
        ("UPDATE organizations SET state = 'suspended'", "This organization is suspended"),
    ],
)
async def test_a_watch_is_refused_with_the_reason_that_is_true(
    browser: Browser, settings: Settings, statement: str, text: str
) -> None:
    await member(browser)
    sent = await form(browser, condition="returned", target="brand", code="vita")
    execute(settings, statement)
    browser.edge.forget_accounts()
    browser.edge.resources.users.invalidate()
    assert await browser.ask("POST", PAGE, sent) == 403
    assert text in browser.text
    assert await browser.ask("GET", PAGE) == 200
    assert text in browser.text and "New watch" not in browser.text
    assert execute(settings, "SELECT FROM watches") == []


async def test_the_code_is_completed_by_the_list_of_what_is_watched(browser: Browser) -> None:
    await member(browser)
    assert await visit(browser, "/dashboard/completions/watched?target=brand&code=vi") == 200
    assert 'value="vita"' in browser.text
    assert await visit(browser, "/dashboard/completions/watched?target=category&code=dr") == 200
    assert 'value="drinks"' in browser.text
    assert await visit(browser, "/dashboard/completions/watched?target=nonsense&code=dr") == 404


async def test_events_are_shown_in_words_newest_first_by_type_and_by_page(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    fired = {"watch": "w", "label": "<b>Soy</b>", "target": "article", "code": SOY, "condition": "below", "iid": SOY}
    fired |= {"day": "2026-07-02", "price": "9.90", "currency": "HKD", "amount": "10.00"}
    other = "INSERT INTO organizations (name, plan) VALUES ('Other', 'brand') RETURNING id"
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        [elsewhere] = connection.execute(other).fetchone() or (None,)
        for owner, type_, data in (
            (organization, "watch.fired", fired),
            (elsewhere, "key.rotated", {"key_id": "NotYours"}),
            *((organization, "key.rotated", {"key_id": f"Key{n}"}) for n in range(51)),
            (organization, "item.renamed", {}),
        ):
            connection.execute(
                "INSERT INTO event_log (organization_id, type, data) VALUES ($1, $2, $3::jsonb)",
                (owner, type_, json.dumps(data)),
            )
    await browser.ask("GET", "/dashboard/events")
    assert "item.renamed" in browser.text and "NotYours" not in browser.text
    assert browser.text.index("Key50") < browser.text.index("Key49")
    older = re.search(r'href="(/dashboard/events\?before=\d+)"', browser.text)
    assert older is not None
    await browser.ask("GET", older[1])
    shown = re.findall(r"Key(\d+) is the new key", browser.text)
    assert shown == ["1", "0"]
    assert "&lt;b&gt;Soy&lt;/b&gt;: 9.90 HKD on 2026-07-02, below 10.00" in browser.text
    await browser.ask("GET", "/dashboard/events?type=watch.fired")
    assert "below 10.00" in browser.text and "Key50" not in browser.text
    for nonsense in ("type=nonsense", "before=x", "before=-1"):
        assert await browser.ask("GET", f"/dashboard/events?{nonsense}") == 400
