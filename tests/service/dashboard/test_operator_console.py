"""Operators run the service from a browser: what they order is done as the command does it, once, and is recorded."""

import asyncio
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from tests.service.dashboard.browser import Browser
from tests.service.dashboard.operators import HOME, ordered, recorded, serve
from tests.support.database import execute
from tests.support.shop import ROWS, load_rows
from tests.support.workers import order
from workers.dispatcher.retention import statements
from workers.operators.acts import account_acts
from workers.operators.organizations import OPERATOR, create_organization

PAGES = (
    "",
    "/acts",
    "/organizations",
    "/requests",
    "/people",
    "/plans",
    "/loads",
    "/feeds",
    "/jobs",
    "/releases",
    "/health",
    "/models",
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The operator is Ada."""
    return replace(settings, staff="ada@example.org")


def audited(browser: Browser, organization: str) -> list[Any]:
    query = "SELECT actor, act, subject FROM audit WHERE organization_id::text = $1 ORDER BY id"
    return execute(browser.edge.settings, query, organization)


def organization(browser: Browser, name: str = "Acme", plan: str = "brand") -> str:
    with connect(browser.edge.settings.database_url, application="tests") as connection:
        return create_organization(connection, name, plan)


async def test_the_pages_and_their_forms_are_for_operators_alone(browser: Browser) -> None:
    await browser.sign_in("grace")
    await browser.ask("GET", "/dashboard")
    assert HOME not in browser.text
    form = browser.form(name="Acme", plan="brand", wanted="job.cancel", number="1")
    paths = ("/organizations", "/plans", "/loads", "/feeds", "/jobs", "/releases", "/health", "/models")
    unknown = "/organizations/01890000-0000-7000-8000-000000000000"
    for path in (*PAGES, unknown, "/acts/recent", "/loads/01890000-0000-7000-8000-000000000000"):
        assert await browser.ask("GET", HOME + path) == 403, path
    for path in (*paths, unknown):
        assert await browser.ask("POST", HOME + path, form) in (403, 404), path
    assert recorded(browser) == []


async def test_a_form_from_elsewhere_orders_nothing(operator: Browser) -> None:
    for path in ("/organizations", "/plans", "/loads", "/feeds", "/jobs", "/releases", "/health", "/models"):
        form = {"csrf": "x", "once": "A" * 22, "name": "Acme", "plan": "brand", "number": "1", "wanted": "feed.pause"}
        assert await operator.ask("POST", HOME + path, form) == 403, path
    assert recorded(operator) == []


async def test_every_page_says_what_an_empty_list_would_hold(operator: Browser) -> None:
    for path in PAGES:
        assert await operator.ask("GET", HOME + path) == 200, path
        assert await operator.ask("GET", f"{HOME}{path}?q=nothing-is-called-so&page=2") == 200, path


async def test_the_overview_counts_what_waits_and_leads_to_it(operator: Browser) -> None:
    settings = operator.edge.settings
    await operator.ask("GET", HOME)
    assert "Nothing waits for you." in operator.text
    acme = organization(operator, plan="free")
    execute(settings, "INSERT INTO plan_requests (organization_id, plan) VALUES ($1, 'brand')", acme)
    execute(settings, "INSERT INTO loads (source, mapping, state) VALUES ('shop', 'x', 'failed')")
    job = order(settings)
    execute(settings, "UPDATE jobs SET not_before = now() - interval '1 hour' WHERE id = $1", job)
    await operator.ask("GET", HOME)
    shown = dict(re.findall(r'data-figure="([^"]+)"><span class="figure">([0-9,]+)', operator.text))
    assert shown == {"plan requests to decide": "1", "loads failed this week": "1", "jobs stuck": "1"}
    for address in (f"{HOME}/requests", f"{HOME}/loads?state=failed", f"{HOME}/jobs?state=stuck"):
        assert f'href="{address}"' in operator.text
        assert await operator.ask("GET", address) == 200
        assert "<tbody>" in operator.text
        await operator.ask("GET", HOME)


async def test_a_requested_plan_is_approved_from_the_list(operator: Browser) -> None:
    acme = organization(operator, plan="free")
    execute(operator.edge.settings, "INSERT INTO plan_requests (organization_id, plan) VALUES ($1, 'brand')", acme)
    shown = await ordered(
        operator, "/requests", f"/organizations/{acme}", wanted="plan.approve", **{"from": "requests"}
    )
    assert "Done: Approve the plan of" in shown and "No request waits." in shown
    assert execute(operator.edge.settings, "SELECT plan FROM organizations") == [("brand",)]
    assert audited(operator, acme)[-1] == (OPERATOR, "plan.changed", "brand")
    assert [row[1:] for row in recorded(operator)] == [("plan.approve", acme, "done")]
    await operator.ask("GET", f"{HOME}/acts?q=approve&state=done")
    assert "Approve the plan of" in operator.text


async def test_a_request_is_declined_after_a_question(operator: Browser) -> None:
    acme = organization(operator, plan="free")
    execute(operator.edge.settings, "INSERT INTO plan_requests (organization_id, plan) VALUES ($1, 'brand')", acme)
    await ordered(operator, f"/organizations/{acme}", wanted="plan.decline")
    assert execute(operator.edge.settings, "SELECT plan FROM organizations") == [("free",)]
    assert audited(operator, acme)[-1] == (OPERATOR, "plan.declined", "brand")


async def test_an_organization_is_created_changed_suspended_and_activated(operator: Browser) -> None:
    settings = operator.edge.settings
    shown = await ordered(operator, "/organizations", name="Acme <b>", plan="free")
    assert "Acme &lt;b&gt;" in shown and "<b>" not in shown
    [(acme,)] = execute(settings, "SELECT id::text FROM organizations")
    page = f"/organizations/{acme}"
    await ordered(operator, page, wanted="organization.plan", plan="institutional")
    await ordered(operator, page, wanted="organization.suspend")
    assert execute(settings, "SELECT plan, state FROM organizations") == [("institutional", "suspended")]
    await ordered(operator, page, wanted="organization.activate")
    assert [(actor, act) for actor, act, _ in audited(operator, acme)] == [
        (OPERATOR, "organization.created"),
        (OPERATOR, "plan.changed"),
        (OPERATOR, "organization.suspended"),
        (OPERATOR, "organization.active"),
    ]
    assert "Organization suspended" in operator.text  # its audit log, on its page


async def test_a_person_gets_a_role_changes_it_and_is_removed(operator: Browser) -> None:
    acme = organization(operator)
    page, person = f"/organizations/{acme}", "ada@example.org"
    await ordered(operator, page, wanted="member.role", person=person, role="owner")
    assert "Ada" in operator.text
    refused = await ordered(operator, page, wanted="member.role", person=person, role="none")
    assert "Refused: Change a role in" in refused and "last owner" in refused
    other = Browser(operator.edge, operator.issuer)
    await other.sign_in("grace")
    await ordered(operator, page, wanted="member.role", person="grace@example.org", role="viewer")
    await ordered(operator, page, wanted="member.role", person="grace@example.org", role="none")
    acts = [act for _, act, _ in audited(operator, acme)]
    assert acts == ["organization.created", "member.added", "member.added", "member.removed"]
    assert [row[3] for row in recorded(operator)] == ["done", "refused", "done", "done"]
    await operator.send(HOME + page, HOME + page, wanted="member.role", person="nobody@example.org", role="owner")
    assert "has signed in yet" in operator.text


async def test_people_are_found_by_name_and_lead_to_their_organizations(operator: Browser) -> None:
    acme = organization(operator)
    await ordered(operator, f"/organizations/{acme}", wanted="member.role", person="ada@example.org", role="owner")
    await operator.ask("GET", f"{HOME}/people?q=ADA")
    assert f"{HOME}/organizations/{acme}" in operator.text and "ada@example.org" in operator.text
    await operator.ask("GET", f"{HOME}/people?q=nobody")
    assert "Nothing fits this search." in operator.text


async def test_only_what_a_form_changed_of_a_plan_is_changed(operator: Browser) -> None:
    settings = operator.edge.settings
    await operator.ask("GET", f"{HOME}/plans")
    [row] = execute(
        settings,
        "SELECT title, daily_units, burst_units, jobs_running, jobs_queued, batch_iids_max FROM plans WHERE name = 'brand'",
    )
    names = ("title", "daily_units", "burst_units", "jobs_running", "jobs_queued", "batch_iids_max")
    fields = {name: str(value) for name, value in zip(names, row, strict=True)} | {"self_service": "yes"}
    await ordered(operator, "/plans", plan="brand", **{**fields, "price": "49 EUR a month", "daily_units": "70,000"})
    assert execute(settings, "SELECT price, daily_units, burst_units FROM plans WHERE name = 'brand'") == [
        ("49 EUR a month", 70_000, row[2])
    ]
    [(arguments,)] = execute(settings, "SELECT arguments FROM operator_acts")
    assert arguments == {"price": "49 EUR a month", "daily_units": 70_000}
    for wrong in ({"daily_units": "0"}, {"daily_units": "many"}, {"batch_iids_max": "1001"}, {"title": ""}):
        assert await operator.send(f"{HOME}/plans", plan="brand", **{**fields, **wrong}) == 400, wrong


async def test_a_job_is_cancelled_and_run_again(operator: Browser) -> None:
    job = order(operator.edge.settings)
    await ordered(operator, "/jobs", wanted="job.cancel", job=job, kind="search-index")
    assert execute(operator.edge.settings, "SELECT state FROM jobs") == [("cancelled",)]
    await ordered(operator, "/jobs", wanted="job.retry", job=job, kind="search-index")
    assert execute(operator.edge.settings, "SELECT state FROM jobs") == [("queued",)]
    refused = await ordered(operator, "/jobs", wanted="job.retry", job=job, kind="search-index")
    assert "there is no failed or cancelled job" in refused
    await operator.ask("GET", f"{HOME}/jobs?q={job}&state=queued")
    assert job in operator.text
    assert [row[1:] for row in recorded(operator)] == [
        ("job.cancel", job, "done"),
        ("job.retry", job, "done"),
        ("job.retry", job, "refused"),
    ]


async def test_a_feed_is_paused_resumed_and_removed(operator: Browser) -> None:
    settings = operator.edge.settings
    execute(
        settings,
        "INSERT INTO feeds (name, url, source, mapping, every_seconds) VALUES ('shop', 'https://x.example/a?key=secret', 'shop', 'x', 3600)",
    )
    await ordered(operator, "/feeds", wanted="feed.pause", name="shop")
    assert execute(settings, "SELECT paused FROM feeds") == [(True,)] and "secret" not in operator.text
    await ordered(operator, "/feeds", wanted="feed.resume", name="shop")
    assert execute(settings, "SELECT paused FROM feeds") == [(False,)]
    await ordered(operator, "/feeds", wanted="feed.remove", name="shop")
    assert execute(settings, "SELECT count(*) FROM feeds") == [(0,)]
    assert [row[1:] for row in recorded(operator)] == [
        ("feed.pause", "shop", "done"),
        ("feed.resume", "shop", "done"),
        ("feed.remove", "shop", "done"),
    ]


async def test_a_load_shows_why_rows_were_refused_and_is_undone(operator: Browser, tmp_path: Path) -> None:
    settings = operator.edge.settings
    await asyncio.to_thread(load_rows, settings, tmp_path, ROWS)
    [(load, number)] = execute(settings, "SELECT l.id::text, e.no FROM loads l JOIN events e ON e.load_id = l.id")
    for line in (2, 3):
        execute(
            settings,
            "INSERT INTO rejects (load_id, file, line, reason, raw, column_name, value) VALUES ($1, 'f', $2, 'no number', 'r', 'price', 'abc')",
            load,
            line,
        )
    await operator.ask("GET", f"{HOME}/loads/{load}")
    assert re.search(r'no number</th><td class="number">2</td><td>price</td>.*?abc', operator.text)
    await ordered(operator, "/loads", number=str(number), reason="wrong currency")
    assert "undone" in operator.text
    assert execute(settings, "SELECT undone_by, undone_reason FROM events WHERE no = $1", number) == [
        (recorded(operator)[0][0], "wrong currency")
    ]
    assert [row[1:] for row in recorded(operator)] == [("load.undo", str(number), "done")]
    refused = await ordered(operator, "/releases", "/loads", number=str(number))  # a page that is still open elsewhere
    assert "Refused: Undo" in refused


async def test_a_release_is_ordered_once_there_are_data(operator: Browser, tmp_path: Path) -> None:
    settings = operator.edge.settings
    refused = await ordered(operator, "/releases")
    assert "there is no data yet" in refused
    await asyncio.to_thread(load_rows, settings, tmp_path, ROWS)
    await ordered(operator, "/releases")
    assert execute(settings, "SELECT state FROM jobs WHERE kind = 'release'") == [("queued",)]
    assert "A release is being cut" in operator.text
    assert [row[1::2] for row in recorded(operator)] == [("release.cut", "refused"), ("release.cut", "done")]


async def test_an_examination_shows_what_is_wrong_first(operator: Browser) -> None:
    shown = await ordered(operator, "/health")
    assert "1 of 2 parts need you." in shown and "free some space" in shown
    assert shown.index(">disk<") < shown.index(">database<")
    assert [row[1::2] for row in recorded(operator)] == [("service.examine", "done")]


async def test_lists_have_pages(operator: Browser) -> None:
    for number in range(27):
        organization(operator, f"Shop {number:02}", "free")
    await operator.ask("GET", f"{HOME}/organizations?q=shop")
    assert "Shop 26" in operator.text and "Shop 01" not in operator.text
    assert f'rel="next" href="{HOME}/organizations?q=shop&amp;page=2"' in operator.text
    await operator.ask("GET", f"{HOME}/organizations?q=shop&page=2")
    assert "Shop 01" in operator.text and "Shop 26" not in operator.text and 'rel="next"' not in operator.text


async def test_a_form_that_is_sent_twice_orders_one_act(operator: Browser) -> None:
    await operator.ask("GET", f"{HOME}/organizations")
    form = operator.form(name="Acme", plan="free")
    for _ in range(2):
        assert await operator.ask("POST", f"{HOME}/organizations", form) == 303
    await serve(operator)
    assert execute(operator.edge.settings, "SELECT count(*) FROM organizations") == [(1,)]


async def test_the_part_that_follows_acts_shows_the_page_anew_when_they_have_ended(operator: Browser) -> None:
    assert await operator.send(f"{HOME}/health") == 303
    await operator.ask("GET", f"{HOME}/acts/recent")
    assert "HX-Refresh" not in operator.last.headers and 'data-state="waiting"' in operator.text
    await serve(operator)
    await operator.ask("GET", f"{HOME}/acts/recent")
    assert operator.last.headers["HX-Refresh"] == "true" and 'data-state="done"' in operator.text


async def test_an_unexpected_error_refuses_the_act_and_changes_nothing(operator: Browser) -> None:
    def fail() -> list[dict[str, Any]]:
        raise RuntimeError("broken")

    assert await operator.send(f"{HOME}/health") == 303
    log = io.StringIO()
    await asyncio.to_thread(account_acts(operator.edge.settings, Log("feeds", stream=log), fail).serve)
    await operator.ask("GET", f"{HOME}/health")
    assert "an unexpected error (RuntimeError)" in operator.text
    assert {json.loads(line)["event"] for line in log.getvalue().splitlines()} >= {"unhandled-error", "operator-act"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE operator_acts SET state = 'done'",
        "DELETE FROM operator_acts",
        "UPDATE organizations SET plan = 'institutional'",
        "UPDATE plans SET daily_units = 1",
        "INSERT INTO audit (organization_id, actor, act) SELECT id, 'x', 'y' FROM organizations",
        "INSERT INTO operator_acts (person_id, person, act, subject, title, state) VALUES ('{person}', 'x', 'job.cancel', '', '', 'done')",
        "INSERT INTO operator_acts (person_id, person, act, subject, title) VALUES (uuidv7(), 'x', 'job.cancel', '', '')",
    ],
)
async def test_the_edge_orders_acts_and_does_none_of_them(operator: Browser, statement: str) -> None:
    organization(operator)
    settings = operator.edge.settings
    [(person,)] = execute(settings, "SELECT id::text FROM people")
    with connect(settings.edge_database_url, application="tests") as connection:
        connection.execute(f"SET LOCAL itemindex.person = '{person}'; SET LOCAL itemindex.task = 'operator'")
        with pytest.raises(Exception, match=r"permission denied|row-level security"):
            connection.execute(statement.format(person=person))


async def test_what_operators_did_is_kept_for_its_time_and_what_waits_for_good(operator: Browser) -> None:
    settings = replace(operator.edge.settings, operator_acts_retention_days=120)
    for act in range(4):
        assert await operator.send(f"{HOME}/health") == 303, act
    await serve(operator)
    assert await operator.send(f"{HOME}/health") == 303
    execute(settings, "UPDATE operator_acts SET at = now() - interval '2 years'")
    execute(
        settings,
        "UPDATE operator_acts SET ended_at = now() - (id * 40 - 1) * interval '1 day' WHERE ended_at IS NOT NULL",
    )
    sweep(settings)
    rows = execute(settings, "SELECT id, state FROM operator_acts ORDER BY id")
    assert rows == [(1, "done"), (2, "done"), (3, "done"), (5, "waiting")], "119 days are kept, 159 are not"
    sweep(replace(settings, operator_acts_retention_days=1))
    rows = execute(settings, "SELECT id FROM operator_acts ORDER BY id")
    assert rows == [(1,), (2,), (5,)], "whatever the setting says, the worker deletes nothing of the last 90 days"


def sweep(settings: Settings) -> None:
    """Delete what has had its time, as the dispatcher does."""
    with connect(settings.worker_database_url, application="tests", autocommit=True) as connection:
        for statement in statements(settings):
            statement.execute(connection, Log("tests", level="error"))
