"""Mails that tell of one thing each: queued with what they tell of, sent once, refused by kind."""

import asyncio
import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_alert_mails import HOSTILE, send
from tests.service.dashboard.test_billing import contents, member
from tests.support.database import execute
from tests.support.mail_server import MailServer, mail_server
from workers.dispatcher.retention import statements
from workers.events.webhooks import deliver

__all__ = ["contents"]
PAGE = "/dashboard/mails"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, mail_from="alerts@example.org", staff="grace@example.org", plan_approval="manual")


def queued(settings: Settings) -> list[str]:
    """Return the kinds of the mails that wait, the first made first."""
    return [kind for (kind,) in execute(settings, "SELECT kind FROM mail_queue WHERE ended_at IS NULL ORDER BY id")]


def hurry(settings: Settings) -> None:
    """Let the pauses after failures be over."""
    execute(settings, "UPDATE mail_queue SET due_at = now()")


async def rotate(browser: Browser) -> None:
    """Issue a key and rotate it."""
    assert await browser.send("/dashboard/key") == 303
    assert await browser.send("/dashboard/key", "/dashboard/key/rotation", grace="none") == 303


async def test_an_owner_learns_of_a_new_key_and_cannot_refuse_that(browser: Browser, settings: Settings) -> None:
    await member(browser)
    assert await browser.send(PAGE) == 303, "everything that can be refused is"
    await rotate(browser)
    assert queued(settings) == ["key"]
    with mail_server() as there:
        assert await send(settings, there) == 1
        assert await send(settings, there) == 0, "once"
        [mail] = there.mails
    text = mail.get_body(("plain",)).get_content()
    assert mail["To"] == "ada@example.org" and "is the new key (Acme)" in mail["Subject"]
    assert "/dashboard/key" in text and "Security notices" in text
    assert mail["List-Unsubscribe"] is None and "Unsubscribe" not in text


async def test_a_mail_is_queued_with_what_it_tells_of_or_not_at_all(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    event = "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'quota.reached', '{}')"
    execute(
        settings,
        f"DO $do$ BEGIN {event.replace('$1', repr(organization))}; RAISE division_by_zero; EXCEPTION WHEN "
        "division_by_zero THEN END $do$",
    )
    assert queued(settings) == []
    execute(settings, event, organization)
    assert queued(settings) == ["quota"]


async def test_an_invitation_is_mailed_with_its_link_and_the_page_names_organization_role_and_inviter(
    browser: Browser, settings: Settings
) -> None:
    await browser.sign_in()
    await browser.create_organization("Acme & <b>Sons</b>")
    assert (
        await browser.send(
            "/dashboard/members", "/dashboard/members/invitations", email="bob@example.org", role="viewer"
        )
        == 303
    )
    await browser.ask("GET", "/dashboard/members")
    assert "also mailed" in browser.text and "waiting" in browser.text
    with mail_server() as there:
        assert await send(settings, there) == 1
        [mail] = there.mails
    assert mail["To"] == "bob@example.org" and mail["List-Unsubscribe"] is None
    text, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
    assert "Ada invites you to Acme & <b>Sons</b> at Item Index as viewer" in text and "<b>" not in html
    assert execute(settings, "SELECT sealed_secret FROM mail_queue") == [(None,)], "not kept once it is sent"
    await browser.ask("GET", "/dashboard/members")
    assert "sent <time" in browser.text
    [secret] = set(re.findall(r"/dashboard/invitation#([A-Za-z0-9_-]{43})", text))
    details = "/dashboard/invitation/details"
    stranger = Browser(browser.edge, browser.issuer)
    assert await stranger.ask("POST", details, {"secret": secret}, {"HX-Request": "true"}) == 200
    assert "Acme &amp; &lt;b&gt;Sons&lt;/b&gt;" in stranger.text and "<bdi>Ada</bdi>" in stranger.text
    assert "viewer" in stranger.text and "look at everything" in stranger.text and "bob@example.org" in stranger.text
    assert await stranger.ask("POST", details, {"secret": secret[:-1] + "_"}, {"HX-Request": "true"}) == 404
    assert "Acme" not in stranger.text and "Ask for a new one" in stranger.text
    await stranger.sign_in("bob")
    await stranger.ask("GET", "/dashboard/invitation")
    assert await stranger.ask("POST", "/dashboard/invitation", stranger.form(secret=secret)) == 303
    assert await stranger.ask("POST", details, {"secret": secret}, {"HX-Request": "true"}) == 404, "it was used"


async def test_an_invitation_that_was_withdrawn_is_not_mailed(browser: Browser, settings: Settings) -> None:
    await member(browser)
    await browser.send("/dashboard/members", "/dashboard/members/invitations", email="bob@example.org", role="viewer")
    [(invitation,)] = execute(settings, "SELECT id::text FROM invitations")
    assert await browser.send("/dashboard/members", "/dashboard/members/withdrawals", invitation=invitation) == 303
    with mail_server() as there:
        assert await send(settings, there) == 0


async def test_a_decided_plan_is_mailed_to_owners(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    decide = "UPDATE plan_requests SET decision = 'declined', decided_at = now(), decided_by = 'x' WHERE organization_id = $1"
    execute(settings, decide, organization)
    with mail_server() as there:
        assert await send(settings, there) == 1
        [mail] = there.mails
    assert mail["Subject"] == "The Brand plan was declined for Acme"
    assert "keeps the Free sign-up plan" in mail.get_body(("plain",)).get_content()


async def test_finished_exports_are_mailed_to_those_who_ask_and_end_by_the_link_of_a_mail(
    browser: Browser, settings: Settings
) -> None:
    organization = await member(browser)
    ready = "INSERT INTO event_log (organization_id, type, data) VALUES ($1, 'export.ready', jsonb_build_object('job', 'j'))"
    execute(settings, ready, organization)
    assert queued(settings) == []
    assert await browser.send(PAGE, kinds="export") == 303
    execute(settings, ready, organization)
    with mail_server() as there:
        assert await send(settings, there) == 1
        [mail], [envelope] = there.mails, there.envelopes
        assert "/dashboard/exports/j" in mail.get_body(("plain",)).get_content()
        raw = re.search(rb"^List-Unsubscribe: <([^>\r]+)>\r$", envelope.original_content or b"", re.MULTILINE)
        assert raw is not None
        parts = urlsplit(raw[1].decode())
        link = f"{parts.path}?{parts.query}"
        stranger = Browser(browser.edge, browser.issuer)
        assert await stranger.ask("GET", link) == 200 and "Finished exports" in stranger.text
        execute(settings, ready, organization)
        for _ in range(2):
            assert await stranger.ask("POST", link, {"List-Unsubscribe": "One-Click"}) == 200
        assert await send(settings, there) == 0, "neither what waited nor what comes"
        execute(settings, "DELETE FROM members")
        assert await stranger.ask("POST", link, {"List-Unsubscribe": "One-Click"}) == 200


async def test_a_dead_server_loses_no_mail_and_a_refusal_ends_one(browser: Browser, settings: Settings) -> None:
    await member(browser)
    await rotate(browser)
    await browser.send("/dashboard/members", "/dashboard/members/invitations", email="bob@example.org", role="viewer")
    with mail_server() as dead:
        pass
    for _ in range(20):
        hurry(settings)
        assert await send(settings, dead) == 0
    assert execute(settings, "SELECT max(failures), max(due_at) < now() + interval '12 minutes' FROM mail_queue") == [
        (4, True)
    ]
    hurry(settings)
    with mail_server(dead) as alive:
        alive.data_reply = "450 4.2.0 Later"
        assert await send(settings, alive) == 0
        assert sorted(queued(settings)) == ["invitation", "key"]
        alive.data_reply = "250 OK"
        alive.recipient_reply = "550 5.1.1 No <b>such</b> user"
        hurry(settings)
        execute(settings, "UPDATE mail_queue SET due_at = 'infinity' WHERE kind = 'key'")
        assert await send(settings, alive) == 0
        await browser.ask("GET", "/dashboard/members")
        assert "not sent: <bdi>The mail server answered 550: 5.1.1 No &lt;b&gt;such&lt;/b&gt; user" in browser.text
        alive.recipient_reply = "250 OK"
        hurry(settings)
        assert await send(settings, alive) == 1, "the refused one has ended"
        assert [mail["To"] for mail in alive.mails] == ["ada@example.org"]


async def test_without_a_server_mails_wait_and_are_deleted_with_the_events(
    browser: Browser, settings: Settings
) -> None:
    await member(browser)
    await rotate(browser)
    assert await asyncio.to_thread(deliver, settings, 30) == 0
    assert execute(settings, "SELECT failures FROM mail_queue") == [(1,)]
    execute(settings, "UPDATE mail_queue SET created_at = now() - interval '31 days'")
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        for statement in statements(settings):
            statement.execute(connection, Log("tests", level="error"))
    assert queued(settings) == []


async def test_a_hostile_name_forges_no_header_and_no_markup(browser: Browser, settings: Settings) -> None:
    organization = await member(browser)
    execute(settings, "UPDATE organizations SET name = $2 WHERE id = $1", organization, HOSTILE)
    await rotate(browser)
    with mail_server(MailServer()) as there:
        assert await send(settings, there) == 1
        [envelope], [mail] = there.envelopes, there.mails
    assert envelope.rcpt_tos == ["ada@example.org"] and mail["Bcc"] is None
    html = mail.get_body(("html",)).get_content()
    assert "<script>" not in html and "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;" in html
