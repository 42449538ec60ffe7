"""Alerts by mail: asked for on the page, sent through a real mail server once each, and ended by the link of a mail."""

import asyncio
import json
import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_billing import contents, member
from tests.service.webhooks.receivers import receiver
from tests.support.database import execute
from tests.support.mail_server import MailServer, mail_server
from workers.events.webhooks import deliver

__all__ = ["contents"]
PAGE = "/dashboard/watches"
HOSTILE = 'Soy\r\nBcc: all@example.org <script>alert(1)</script> & "x"\u202e'


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The edge offers mails; where the worker sends them, each test says."""
    return replace(settings, mail_from="alerts@example.org", staff="grace@example.org", webhook_private_addresses=True)


async def send(settings: Settings, there: MailServer) -> int:
    """Deliver what is due, as a worker does; return how many events were accepted."""
    return await asyncio.to_thread(deliver, replace(settings, smtp_url=there.url), 30)


def fire(settings: Settings, organization: str, label: str = "Soy", times: int = 1) -> None:
    """Log that a watch fired, in one transaction."""
    data = {"watch": "w", "label": label, "target": "article", "code": "IID-1", "condition": "below", "iid": "IID-1"}
    data |= {"price": "9.90", "amount": "10.00", "currency": "HKD", "day": "2026-07-02"}
    insert = "INSERT INTO event_log (organization_id, type, data) SELECT $1, 'watch.fired', $2::text::jsonb FROM generate_series(1, $3)"
    execute(settings, insert, organization, json.dumps(data), times)


def hurry(settings: Settings) -> None:
    """Let the pauses after failures be over."""
    execute(settings, "UPDATE webhook_endpoints SET due_at = now()")


async def subscribe(browser: Browser) -> str:
    """Sign in as a member who asks for mails; return the organization."""
    organization = await member(browser)
    assert await browser.send(PAGE, f"{PAGE}/mail", mail="on") == 303
    return organization


async def test_nothing_is_mailed_until_a_member_asks_and_then_each_event_once(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    fire(settings, organization, "before")
    with mail_server() as there:
        assert await send(settings, there) == 0
        assert await browser.send(PAGE, f"{PAGE}/mail", mail="on") == 303
        fire(settings, organization)
        execute(
            settings, "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'job.ended', '{}')", organization
        )
        assert await send(settings, there) == 1
        assert await send(settings, there) == 0, "each once"
        [mail] = there.mails
        assert (mail["To"], mail["From"]) == ("ada@example.org", "Item Index <alerts@example.org>")
        assert mail["Subject"] == "Soy: 9.90 HKD on 2026-07-02, below 10.00"
        text, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
        assert "Soy: 9.90 HKD" in text and "/dashboard/explorer/IID-1" in text and "Soy: 9.90 HKD" in html
        assert await browser.ask("GET", PAGE) == 200
        assert "Alerts are sent to <bdi>ada@example.org</bdi>" in browser.text and "the last one" in browser.text
        assert await browser.send(PAGE, f"{PAGE}/mail", mail="off") == 303
        fire(settings, organization)
        assert await send(settings, there) == 0


async def test_a_hostile_name_forges_no_header_and_no_markup(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    fire(settings, organization, HOSTILE)
    with mail_server() as there:
        assert await send(settings, there) == 1
        [envelope], [mail] = there.envelopes, there.mails
    assert envelope.rcpt_tos == ["ada@example.org"] and mail["Bcc"] is None
    assert "\\u000d\\u000aBcc: all@example.org" in mail["Subject"] and "\u202e" not in mail["Subject"]
    html = mail.get_body(("html",)).get_content()
    assert "<script>" not in html and "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;" in html


async def test_a_name_from_right_to_left_is_mailed_as_it_is(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    fire(settings, organization, "חלב סויה")
    with mail_server() as there:
        assert await send(settings, there) == 1
        [mail] = there.mails
    assert mail["Subject"].startswith("חלב סויה: 9.90 HKD") and "\\u" not in mail.get_body(("plain",)).get_content()


async def test_a_dead_server_loses_nothing_and_keeps_no_webhook_waiting(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    with mail_server() as dead:
        pass
    with receiver() as hook:
        await browser.send("/dashboard/webhooks", url=hook.url)
        fire(settings, organization)
        assert await send(settings, dead) == 1
        assert len(hook.accepted) == 1
    execute(settings, "DELETE FROM webhook_endpoints WHERE person_id IS NULL")
    for _ in range(20):
        hurry(settings)
        assert await send(settings, dead) == 0
    assert execute(
        settings, "SELECT failures, disabled_at, due_at < now() + interval '12 minutes' FROM webhook_endpoints"
    ) == [(4, None, True)]
    await browser.ask("GET", PAGE)
    assert "The last attempt failed" in browser.text
    fire(settings, organization)
    hurry(settings)
    with mail_server(dead) as alive:
        assert await send(settings, alive) == 2
        [mail] = alive.mails
    assert mail["Subject"] == "2 alerts of Acme"


async def test_a_refusal_for_now_is_tried_again(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    fire(settings, organization)
    with mail_server(MailServer(recipient_reply="450 4.2.0 Greylisted")) as there:
        assert await send(settings, there) == 0
        assert execute(settings, "SELECT status, outcome, answer FROM webhook_attempts") == [
            (450, "deferred", "4.2.0 Greylisted")
        ]
        there.recipient_reply = "250 OK"
        assert await send(settings, there) == 0, "its pause is not over"
        hurry(settings)
        assert await send(settings, there) == 1
        assert len(there.mails) == 1


@pytest.mark.parametrize("reply", ["recipient_reply", "data_reply"])
async def test_a_refusal_for_good_ends_the_mails_and_the_page_says_why(
    browser: Browser, settings: Settings, reply: str
) -> None:
    organization = await subscribe(browser)
    fire(settings, organization)
    with mail_server() as there:
        setattr(there, reply, "550 5.1.1 No <b>such</b> user")
        assert await send(settings, there) == 0
        hurry(settings)
        assert await send(settings, there) == 0
        await browser.ask("GET", PAGE)
        assert "have ended" in browser.text and "550: 5.1.1 No &lt;b&gt;such&lt;/b&gt; user" in browser.text
        assert execute(settings, "SELECT count(*) FROM webhook_attempts") == [(1,)]
        assert execute(settings, "SELECT count(*) FROM event_log WHERE type = 'webhook.disabled'") == [(0,)]
        setattr(there, reply, "250 OK")
        assert await browser.send(PAGE, f"{PAGE}/mail", mail="on") == 303
        assert await send(settings, there) == 1, "it continues where it stopped"


async def test_one_bad_address_keeps_no_other_member_waiting(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    insert = (
        "INSERT INTO people (issuer, subject, name, email, email_verified) VALUES ('i', $1, $1, $2, $3) RETURNING id"
    )
    for name, address, verified in (("bad", "no address\r\nBcc: x@y", True), ("unverified", "u@example.org", False)):
        [(person,)] = execute(settings, insert, name, address, verified)
        execute(
            settings,
            "INSERT INTO members (organization_id, person_id, role) VALUES ($1, $2, 'viewer')",
            organization,
            person,
        )
        execute(
            settings,
            "INSERT INTO webhook_endpoints (organization_id, person_id, position, due_at) VALUES ($1, $2, 0, '2020-01-01')",
            organization,
            person,
        )
    fire(settings, organization)
    with mail_server() as there:
        assert await send(settings, there) == 1
        assert [envelope.rcpt_tos for envelope in there.envelopes] == [["ada@example.org"]]
    assert execute(settings, "SELECT disabled_reason FROM webhook_endpoints WHERE disabled_at IS NOT NULL") == [
        ("Your address can't be written into a mail.",)
    ]


async def test_many_events_are_one_mail(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    fire(settings, organization, times=300)
    with mail_server() as there:
        assert await send(settings, there) == 300
        [mail] = there.mails
    assert mail["Subject"] == "300 alerts of Acme" and "And 250 more" in mail.get_body(("plain",)).get_content()


async def test_the_link_of_a_mail_asks_and_then_ends_the_mails_without_a_session(
    browser: Browser, settings: Settings
) -> None:
    organization = await subscribe(browser)
    fire(settings, organization)
    with mail_server() as there:
        await send(settings, there)
        [mail], [envelope] = there.mails, there.envelopes
        assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        raw = re.search(rb"^List-Unsubscribe: <([^>\r]+)>\r$", envelope.original_content or b"", re.MULTILINE)
        assert raw is not None, "in one line, not encoded"
        parts = urlsplit(raw[1].decode())
        link = f"{parts.path}?{parts.query}"
        stranger = Browser(browser.edge, browser.issuer)
        assert await stranger.ask("GET", link) == 200
        assert 'action="/dashboard/unsubscribe?token=' in stranger.text
        assert execute(settings, "SELECT count(*) FROM webhook_endpoints") == [(1,)], "to ask changes nothing"
        assert await stranger.ask("POST", link[:-2] + "AA") == 404
        assert execute(settings, "SELECT count(*) FROM webhook_endpoints") == [(1,)]
        for _ in range(2):
            assert await stranger.ask("POST", link, {"List-Unsubscribe": "One-Click"}) == 200
            assert "These mails have ended" in stranger.text
        fire(settings, organization)
        assert await send(settings, there) == 0
    assert execute(settings, "SELECT actor FROM audit WHERE act = 'watch.mail-ended'") == [("Ada",)]


async def test_a_member_who_leaves_gets_no_more_mails(browser: Browser, settings: Settings) -> None:
    organization = await subscribe(browser)
    execute(settings, "DELETE FROM members WHERE organization_id = $1", organization)
    assert execute(settings, "SELECT count(*) FROM webhook_endpoints") == [(0,)]


async def test_mails_are_no_webhooks_of_the_organization(browser: Browser, settings: Settings) -> None:
    await subscribe(browser)
    await browser.ask("GET", "/dashboard/webhooks")
    assert "No webhooks yet" in browser.text
    [(endpoint,)] = execute(settings, "SELECT id::text FROM webhook_endpoints")
    assert await browser.ask("GET", f"/dashboard/webhooks/{endpoint}") == 404


async def test_the_outbox_keeps_mails_for_operators_where_there_is_no_server(
    browser: Browser, settings: Settings
) -> None:
    organization = await subscribe(browser)
    fire(settings, organization, HOSTILE)
    assert await asyncio.to_thread(deliver, replace(settings, smtp_url="outbox:"), 30) == 1
    assert execute(settings, "SELECT recipient FROM outbox_mails") == [("ada@example.org",)]
    assert await browser.ask("GET", "/dashboard/outbox") == 403
    operator = Browser(browser.edge, browser.issuer)
    await operator.sign_in("grace")
    assert await operator.ask("GET", "/dashboard/outbox") == 200
    assert "&lt;script&gt;alert(1)" in operator.text and "<script>alert" not in operator.text


async def test_a_digest_groups_what_fired_once_its_day_is_over(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    assert await browser.send("/dashboard/mails", alerts="day") == 303
    assert await browser.ask("GET", PAGE) == 200 and "once a day, after midnight UTC" in browser.text
    fire(settings, organization, "Soy", times=2)
    fire(settings, organization, "Tea <b>")
    execute(settings, "UPDATE event_log SET data = data || '{\"watch\": \"t\"}' WHERE data->>'label' LIKE 'Tea%'")
    with mail_server() as dead:
        pass
    with mail_server() as there:
        assert await send(settings, there) == 0, "the day is not over"
        execute(settings, "UPDATE event_log SET at = date_trunc('day', now(), 'UTC') - interval '1 second'")
        fire(settings, organization, "Today")
        assert await send(settings, dead) == 0, "an outage and a restart in between"
        hurry(settings)
        assert await send(settings, there) == 3
        assert await send(settings, there) == 0, "nothing twice"
        [mail] = there.mails
        assert mail["Subject"] == "Daily digest of Acme: 3 alerts"
        text, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
        assert "Soy: fired 2 times" in text and text.count("Soy: 9.90 HKD") == 2 and text.count("Tea") == 1
        assert "Today" not in text and "<b>" not in html
        assert await browser.send("/dashboard/mails", alerts="now") == 303
        assert await send(settings, there) == 1, "what waited for the next digest is sent at once"
        assert "Today" in there.mails[1]["Subject"]


async def test_a_weekly_digest_ends_on_monday_at_midnight(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    assert await browser.send("/dashboard/mails", alerts="week") == 303
    fire(settings, organization, "This week")
    fire(settings, organization, "Last week", times=1_001)
    execute(
        settings,
        "UPDATE event_log SET at = date_trunc('week', now(), 'UTC') - interval '1 second' WHERE data->>'label' = 'Last week'",
    )
    with mail_server() as there:
        # The event of this week has a lower number, as after a clock that was set back: its number is passed by the others.
        assert await send(settings, there) == 1_002
        assert [mail["Subject"] for mail in there.mails] == [
            "Weekly digest of Acme: 1,000 alerts",
            "Weekly digest of Acme: 2 alerts",
        ]
        assert await send(settings, there) == 0


async def test_another_frequency_than_those_of_the_page_is_refused(browser: Browser, settings: Settings) -> None:
    await member(browser)
    assert await browser.send("/dashboard/mails", alerts="sometimes") == 400
    assert execute(settings, "SELECT count(*) FROM webhook_endpoints") == [(0,)]
