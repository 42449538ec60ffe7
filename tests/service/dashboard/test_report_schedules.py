"""Scheduled reports: run once when due, for the ordinary charge, mailed as a link; paused, refused and said so."""

import asyncio
import re
from dataclasses import replace

import pytest

from edge.composition import Services
from edge.dashboard.routes import report_schedules
from shared.settings.settings import Settings
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.test_alert_mails import send
from tests.service.dashboard.test_billing import contents, member, used_by, visit
from tests.service.dashboard.test_questions import ask
from tests.support.database import execute
from tests.support.mail_server import mail_server
from tests.support.reports import queued
from tests.support.workers import run

__all__ = ["contents"]
NAME = "What <b>Vita</b> costs"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, mail_from="alerts@example.org")


async def scheduled(browser: Browser, every: str = "week") -> str:
    """Keep a question and schedule it; return the organization."""
    organization = await member(browser)
    assert await ask(browser, name=NAME) == 303
    await visit(browser, "/dashboard/jobs")
    [saved] = set(re.findall(r"/dashboard/questions/([0-9a-f-]{36})/runs", browser.text))
    assert "Each run costs 10 units" in browser.text
    assert await browser.send("/dashboard/jobs", f"/dashboard/questions/{saved}/schedule", every=every) == 303
    return organization


async def sweep(browser: Browser) -> None:
    """Look for what is due, as an edge does each minute; in a new process each time."""
    await report_schedules(Services(browser.edge.resources)).sweep()


def due(settings: Settings) -> None:
    """Let the time of the next run come."""
    execute(settings, "UPDATE saved_reports SET next_run_at = now() - interval '1 minute', lease_until = NULL")


async def test_a_scheduled_report_runs_once_when_due_and_its_answer_is_mailed(
    browser: Browser, settings: Settings
) -> None:
    organization = await scheduled(browser)
    [first] = await asyncio.to_thread(queued, settings)
    assert await asyncio.to_thread(run, settings, first) == "succeeded"
    await sweep(browser)
    assert execute(settings, "SELECT count(*) FROM job_orders") == [(1,)], "it is not due"
    assert execute(
        settings, "SELECT next_run_at = date_trunc('week', now(), 'UTC') + interval '7 days' FROM saved_reports"
    ) == [(True,)]
    execute(settings, "DELETE FROM job_orders")
    execute(settings, "DELETE FROM jobs")
    due(settings)
    before = await used_by(browser, organization)
    for _ in range(2):
        await sweep(browser)
    [job] = await asyncio.to_thread(queued, settings)
    assert await used_by(browser, organization) == before + 10
    with mail_server() as there:
        assert await send(settings, there) == 0, "it has no answer yet"
        assert await asyncio.to_thread(run, settings, job) == "succeeded"
        for _ in range(2):
            await sweep(browser)
        assert await send(settings, there) == 1
        assert await send(settings, there) == 0
        [mail] = there.mails
    assert (mail["To"], mail["Subject"]) == ("ada@example.org", f"Scheduled report answered: {NAME}")
    [(order,)] = execute(settings, "SELECT id::text FROM job_orders")
    assert f"/dashboard/jobs/{order}" in mail.get_body(("plain",)).get_content()
    assert "<b>" not in mail.get_body(("html",)).get_content() and mail["List-Unsubscribe"] is not None
    await visit(browser, "/dashboard/jobs")
    assert "every week for <bdi>Ada</bdi>" in browser.text


async def test_a_run_that_is_tried_again_is_charged_once(browser: Browser, settings: Settings) -> None:
    organization = await scheduled(browser)
    execute(settings, "DELETE FROM job_orders")
    execute(settings, "DELETE FROM jobs")
    before = await used_by(browser, organization)
    moment = "UPDATE saved_reports SET next_run_at = '2026-01-05 00:00Z', lease_until = NULL, scheduled_order = NULL"
    execute(settings, moment)
    await sweep(browser)
    execute(settings, "DELETE FROM job_orders")  # as if the edge had died before it placed the order
    execute(settings, "DELETE FROM jobs")
    execute(settings, moment)
    await sweep(browser)
    assert await used_by(browser, organization) == before + 10
    assert execute(settings, "SELECT count(*) FROM job_orders") == [(1,)]


async def test_a_spent_quota_is_mailed_and_the_report_waits_for_its_next_time(
    browser: Browser, settings: Settings
) -> None:
    organization = await scheduled(browser, "month")
    execute(settings, "DELETE FROM job_orders")
    execute(settings, "DELETE FROM jobs")
    execute(settings, "UPDATE plans SET daily_units = 15, burst_units = 15 WHERE name = 'brand'")
    browser.edge.resources.credentials.plans.clear()
    due(settings)
    await sweep(browser)
    assert execute(settings, "SELECT count(*) FROM job_orders") == [(0,)]
    assert execute(
        settings, "SELECT next_run_at > now(), scheduled_order IS NULL, lease_until IS NULL FROM saved_reports"
    ) == [(True, True, True)]
    with mail_server() as there:
        assert await send(settings, there) >= 1
        [mail] = [mail for mail in there.mails if "Scheduled report" in mail["Subject"]]
    assert mail["Subject"] == f"Scheduled report not run: {NAME}"
    assert "Daily limit of your organization reached" in mail.get_body(("plain",)).get_content()
    assert await used_by(browser, organization) <= 15


async def test_a_schedule_is_paused_when_its_member_leaves_and_ends_with_the_report(
    browser: Browser, settings: Settings
) -> None:
    organization = await scheduled(browser)
    await browser.send("/dashboard/members", "/dashboard/members/invitations", email="bob@example.org", role="member")
    [secret] = set(re.findall(r"invitation#([A-Za-z0-9_-]{43})", await page(browser, "/dashboard/members")))
    bob = Browser(browser.edge, browser.issuer)
    await bob.sign_in("bob")
    await bob.ask("GET", "/dashboard/invitation")
    assert await bob.ask("POST", "/dashboard/invitation", bob.form(secret=secret)) == 303
    execute(settings, "DELETE FROM job_orders")
    execute(settings, "DELETE FROM jobs")
    execute(
        settings,
        "DELETE FROM members WHERE organization_id = $1 AND person_id = (SELECT scheduled_by FROM saved_reports)",
        organization,
    )
    due(settings)
    await sweep(browser)
    assert execute(settings, "SELECT count(*) FROM job_orders") == [(0,)]
    assert "paused: the member who scheduled it has left" in await page(bob, "/dashboard/jobs")
    [(saved,)] = execute(settings, "SELECT id::text FROM saved_reports")
    assert await bob.send("/dashboard/jobs", f"/dashboard/questions/{saved}/schedule", every="week") == 303
    assert "every week for <bdi>Bob</bdi>" in await page(bob, "/dashboard/jobs")
    assert await bob.send("/dashboard/jobs", f"/dashboard/questions/{saved}/removal") == 303
    await sweep(browser)
    assert execute(settings, "SELECT count(*) FROM job_orders") == [(0,)]


async def page(browser: Browser, address: str) -> str:
    """Return the text of a page."""
    assert await browser.ask("GET", address) == 200
    return browser.text


async def test_a_schedule_of_another_organization_is_not_found(browser: Browser, settings: Settings) -> None:
    await scheduled(browser)
    [(saved,)] = execute(settings, "SELECT id::text FROM saved_reports")
    other = Browser(browser.edge, browser.issuer)
    await other.sign_in("bob")
    await other.create_organization("Other")
    assert await other.send("/dashboard/jobs", f"/dashboard/questions/{saved}/schedule", every="month") == 404
    assert execute(settings, "SELECT schedule FROM saved_reports") == [("week",)]
    assert await browser.send("/dashboard/jobs", f"/dashboard/questions/{saved}/schedule", every="day") == 400
    assert await browser.send("/dashboard/jobs", f"/dashboard/questions/{saved}/schedule", every="") == 303
    assert execute(settings, "SELECT schedule, scheduled_by, next_run_at FROM saved_reports") == [(None, None, None)]
