"""Pages of the webhooks: the secret shown once, attempts with answers, replays; and by which role."""

import asyncio
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents, member
from tests.service.dashboard.test_forms import fault
from tests.service.webhooks.receivers import Receiver, receiver
from tests.support.database import execute
from workers.events.webhooks import deliver

__all__ = ["contents"]
PAGE = "/dashboard/webhooks"
SECRET = r"whsec_[A-Za-z0-9+/]{43}="


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Receivers are on loopback, which the setting allows for tests."""
    return replace(settings, webhook_private_addresses=True)


async def made(browser: Browser, there: Receiver, **fields: str) -> tuple[str, str]:
    """Make a webhook by its form; return its page and its secret."""
    await browser.ask("GET", PAGE)
    form = browser.form(url=there.url, **fields)
    assert await browser.ask("POST", PAGE, form) == 303
    assert re.findall(SECRET, browser.text) == []
    assert await browser.ask("GET", PAGE) == 200
    [secret] = set(re.findall(SECRET, browser.text))
    page = re.search(rf"{PAGE}/[0-9a-f-]{{36}}", browser.text)
    assert page is not None
    assert await browser.ask("POST", PAGE, form) == 303, "the same form again"
    assert await browser.ask("GET", PAGE) == 200
    assert re.findall(SECRET, browser.text) == []
    return page[0], secret


async def send(settings: Settings) -> int:
    return await asyncio.to_thread(deliver, settings, 30)


async def test_a_webhook_from_its_form_to_its_attempts_and_a_replay(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    with receiver(lambda call: 500 if call == 0 else 200, answer=b"<script>no</script>") as there:
        page, _ = await made(browser, there, types="key.rotated")
        assert execute(settings, "SELECT count(*), min(types[1]) FROM webhook_endpoints") == [(1, "key.rotated")]
        insert = "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'key.rotated', '{}')"
        execute(settings, insert, organization)
        await send(settings)
        await browser.ask("GET", page)
        assert "1 attempt failed" in browser.text and "Try now" in browser.text
        assert "&lt;script&gt;no&lt;/script&gt;" in browser.text
        csrf = {"csrf": browser.csrf()}
        assert await browser.ask("POST", f"{page}/activation", csrf) == 303
        await send(settings)
        assert len(there.accepted) == 1
        await browser.ask("GET", page)
        event = re.search(r'name="event" value="([0-9a-f-]{36})"', browser.text)
        assert event is not None
        assert await browser.ask("POST", f"{page}/replays", {**csrf, "event": event[1]}) == 303
        await browser.ask("GET", browser.last.headers["Location"])
        assert "1 event queued for redelivery" in browser.text
        await send(settings)
        assert len(there.accepted) == 2
        assert await browser.ask("POST", f"{page}/replays", {**csrf, "after": "0", "to": ""}) == 303
        await send(settings)
        assert len(there.accepted) == 3
        for faulty in ({}, {"after": "x"}, {"after": "-1"}):
            assert await browser.ask("POST", f"{page}/replays", {**csrf, **faulty}) == 400
            assert fault(browser, "after")
    assert await browser.ask("POST", f"{page}/removal", csrf) == 303
    assert await browser.ask("GET", page) == 404


async def test_a_form_that_is_sent_again_with_other_types_is_not_taken_for_the_same(browser: Browser) -> None:
    await member(browser)
    await browser.ask("GET", PAGE)
    form = browser.form(url="https://example.org/", types="watch.fired")
    head = {"Content-Type": "application/x-www-form-urlencoded"}
    statuses = [
        await browser.ask("POST", PAGE, f"types={first}&{urlencode(form)}", head)
        for first in ("key.rotated", "key.rotated", "job.ended")
    ]
    assert statuses == [303, 303, 409]


async def test_a_replaced_secret_is_shown_once_on_the_webhooks_page(browser: Browser) -> None:
    await member(browser)
    with receiver() as there:
        page, secret = await made(browser, there)
        await browser.ask("GET", page)
        form = browser.form()
        for _ in range(2):
            assert await browser.ask("POST", f"{page}/rotation", form) == 303
        await browser.ask("GET", page)
        [second] = set(re.findall(SECRET, browser.text))
        assert second != secret and "also signs until" in browser.text
        await browser.ask("GET", page)
        assert re.findall(SECRET, browser.text) == []


async def test_a_receiver_is_tried_with_the_newest_event_of_the_webhooks_types(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    with receiver() as there:
        page, _ = await made(browser, there, types="key.rotated")
        form = {"csrf": browser.csrf()}
        assert await browser.ask("POST", f"{page}/test", form) == 409
        assert "There are no events of its types yet" in browser.text
        for type_ in ("key.rotated", "key.rotated", "release.cut"):
            insert = "INSERT INTO event_log (organization_id, type, data) VALUES ($1, $2, '{}')"
            execute(settings, insert, organization, type_)
        await send(settings)
        assert len(there.accepted) == 2
        assert await browser.ask("POST", f"{page}/test", form) == 303
        assert browser.last.headers["Location"].endswith("?replayed=1")
        await send(settings)
        identifiers = [head["webhook-id"] for head, _ in there.accepted]
        assert identifiers[2:] == identifiers[1:2]


async def test_a_disabled_webhook_is_sent_nothing_until_it_is_enabled_and_the_audit_log_names_the_person(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    with receiver() as there:
        page, _ = await made(browser, there)
        form = {"csrf": browser.csrf()}
        for _ in range(2):
            assert await browser.ask("POST", f"{page}/deactivation", form) == 303
        await browser.ask("GET", page)
        assert "Disabled by its organization." in browser.text and "Enable" in browser.text
        insert = "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'key.rotated', '{}')"
        execute(settings, insert, organization)
        assert await send(settings) == 0
        audit = "SELECT DISTINCT actor FROM audit WHERE act = 'webhook.disabled'"
        assert execute(settings, audit) == [("Ada",)]
        notice = "SELECT data->>'reason' FROM event_log WHERE type = 'webhook.disabled'"
        assert execute(settings, notice) == [("Disabled by its organization.",)]
        assert await browser.ask("POST", f"{page}/activation", form) == 303
        await send(settings)
        assert len(there.accepted) == 2


async def test_an_address_that_cannot_be_sent_to_is_refused_beside_its_field(browser: Browser) -> None:
    await member(browser)
    for url in ("", "ftp://example.org", "https://user:pw@example.org/", "https://exa mple.org"):
        await browser.ask("GET", PAGE)
        form = browser.form(url=url, types="watch.fired")
        assert await browser.ask("POST", PAGE, form) == 400, url
        assert fault(browser, "url"), url
        assert 'value="watch.fired" checked' in browser.text, url


async def test_a_member_reads_and_an_admin_changes(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    insert = "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'key.rotated', '{}')"
    execute(settings, insert, organization)
    with receiver() as there:
        page, _ = await made(browser, there)
        await browser.ask("GET", page)
        form = browser.form(after="0")
    for role, allowed in (("member", False), ("viewer", False), ("admin", True)):
        execute(settings, "UPDATE members SET role = $1", role)
        browser.edge.resources.users.invalidate()
        assert await browser.ask("GET", page) == 200
        assert (f"{page}/rotation" in browser.text) is allowed
        wanted = 303 if allowed else 403
        for act in ("/replays", "/test", "/deactivation", "/activation", "/rotation", "/removal"):
            assert await browser.ask("POST", f"{page}{act}", form) == wanted, (role, act)
        assert await browser.ask("GET", PAGE) == 200
        assert ("Add webhook" in browser.text) is allowed


async def test_another_organization_finds_no_webhook(browser: Browser) -> None:
    await member(browser)
    with receiver() as there:
        page, _ = await made(browser, there)
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("bob")
    await other.create_organization("Other")
    await other.ask("GET", PAGE)
    assert "No webhooks yet" in other.text
    form = other.form(after="0")
    assert await other.ask("GET", page) == 404
    for act in ("/replays", "/test", "/deactivation", "/activation", "/rotation", "/removal"):
        assert await other.ask("POST", f"{page}{act}", form) == 404, act
