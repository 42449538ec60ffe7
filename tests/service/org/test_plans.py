"""Plans and limits of people: no person gives themselves a paid plan, or makes organizations or calls without end."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from deploy.ctl.console import rows_of
from deploy.ctl.organizations import orgs
from shared.db.connect import connect
from shared.errors import ConfigurationError
from shared.organizations.accounts import SQL as PLANS
from shared.settings.settings import Settings
from tests.laws.contract_page import section
from tests.service.org.conftest import SignedIn
from tests.support.client import running_edge
from tests.support.issuer import Issuer

SECRET = "a secret that signs notices, long enough"


@pytest.fixture
async def approved(settings: Settings, tmp_path: Path, issuer: Issuer) -> AsyncIterator[SignedIn]:
    """An edge where an operator approves each plan."""
    chosen = replace(settings, oidc_issuer=issuer.url, plan_approval="manual")
    async with running_edge(chosen, tmp_path) as edge:
        yield SignedIn(edge, issuer)


def operator(settings: Settings, *arguments: str) -> Any:
    """Run `itemindex orgs …` as an operator does."""
    done = CliRunner(env={"DATABASE_URL": settings.database_url}).invoke(orgs, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_limits_of_the_contract_are_those_that_migrations_give(settings: Settings) -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section(9).splitlines() if line[:1] == "|"]
    page = {cells[0].split()[0]: cells[1:] for cells in rows if cells[0].strip("-")}
    with connect(settings.database_url, application="tests") as connection:
        plans = rows_of(connection, PLANS.plans)
    amounts = zip((f"{plan['daily_units']:,} " for plan in plans), page["daily"], strict=True)
    assert all(cell.startswith(amount) for amount, cell in amounts), page["daily"]
    assert page["burst"] == [f"{plan['burst_units']}/s" for plan in plans]
    jobs = [f"{plan['jobs_running']} / {plan['jobs_queued']}" for plan in plans]
    assert page["jobs"] == ["–" if cell == "0 / 0" else cell for cell in jobs]


async def test_a_new_organization_begins_free_and_an_operator_approves_the_plan(approved: SignedIn) -> None:
    made = (await approved.ask("POST", "/org", body={"name": "Acme", "plan": "institutional"})).json
    assert (made["plan"], made["requested_plan"]) == ("free", "institutional")
    key = await approved.key()
    before = (await approved.edge.get("/quota", key=key)).json
    assert (before["plan"], before["limits"][0]["limit"]) == ("free", 100)
    assert (await approved.edge.get("/index/cohorts?brand=x", key=key)).status == 403
    settings = approved.edge.settings
    [waiting] = msgspec.json.decode(operator(settings, "list", "--requests", "--json"))
    assert (waiting["id"], waiting["requested_plan"]) == (made["id"], "institutional")
    operator(settings, "set", made["id"], "--request", "approve", "--plan", "brand")
    async with asyncio.timeout(10):
        while (await approved.edge.get("/quota", key=key)).json["plan"] != "brand":
            await asyncio.sleep(0.01)
    shown = (await approved.ask("GET", "/org")).json
    assert (shown["plan"], shown["requested_plan"]) == ("brand", None)
    assert msgspec.json.decode(operator(settings, "list", "--requests", "--json")) == []
    acts = [entry["act"] for entry in (await approved.ask("GET", "/org/audit")).json["data"]]
    assert acts == ["plan.changed", "key.issued", "plan.requested", "organization.created"]


async def test_a_declined_plan_leaves_the_free_one_and_may_be_asked_for_again(approved: SignedIn) -> None:
    organization = (await approved.ask("POST", "/org", body={"name": "Acme"})).json["id"]
    assert (await approved.ask("POST", "/org/plan-requests", body={"plan": "brand"})).status == 409
    operator(approved.edge.settings, "set", organization, "--request", "decline")
    again = await approved.ask("POST", "/org/plan-requests", body={"plan": "brand"})
    assert (again.status, again.json["plan"], again.json["requested_plan"]) == (201, "free", "brand")
    await approved.join("bob", "admin")
    assert (await approved.ask("POST", "/org/plan-requests", "bob", {"plan": "brand"})).status == 403


async def test_a_person_makes_no_more_organizations_than_the_limit_however_many_ask_at_once(approved: SignedIn) -> None:
    answers = await asyncio.gather(*(approved.ask("POST", "/org", body={"name": f"A{n}"}) for n in range(30)))
    limit = approved.edge.settings.organizations_per_person_max
    assert sorted(answer.status for answer in answers) == [201] * limit + [409] * (30 - limit)
    assert (await approved.ask("POST", "/org", "eve", {"name": "Hers"})).status == 201


async def test_calls_about_organizations_have_a_limit_per_person_at_every_address(
    settings: Settings, tmp_path: Path, issuer: Issuer
) -> None:
    chosen = replace(settings, oidc_issuer=issuer.url, person_calls_per_day=6)
    async with running_edge(chosen, tmp_path) as edge:
        signed_in = SignedIn(edge, issuer)
        answers = [await signed_in.ask("GET", "/org", address=f"192.0.2.{n}") for n in range(9)]
        assert [answer.status for answer in answers] == [404] * 6 + [429] * 3
        assert (answers[-1].json["policy"], answers[-1].json["limit"]) == ("person-daily", 6)
        assert int(answers[-1].head["Retry-After"]) >= 1
        assert (await signed_in.ask("GET", "/org", "eve")).status == 404
        assert (await signed_in.ask("GET", "/index/brands")).status == 200
        wrong = [await signed_in.ask("POST", "/org", "bob", {"nam": "Acme"}) for _ in range(7)]
        assert [answer.status for answer in wrong] == [400] * 6 + [429], "calls with wrong parameters count as well"
        assert (await signed_in.ask("GET", "/org?organization=x", "bob")).status == 429


@dataclass
class Billing:
    """A billing system on loopback. `statuses` are its next answers; then it takes everything."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        """Take a notice."""
        self.posts.append((dict(request.headers), await request.read()))
        self.came.set()
        status = self.statuses.pop(0) if self.statuses else 204
        return web.Response(status=status, headers={"Location": "/elsewhere"} if status == 302 else None)

    async def next(self) -> tuple[dict[str, str], bytes]:
        """Wait for a notice and return its header fields and body."""
        async with asyncio.timeout(10):
            await self.came.wait()
        self.came.clear()
        return self.posts[-1]


async def test_a_billing_system_is_sent_a_signed_notice_until_it_takes_it(
    settings: Settings, tmp_path: Path, issuer: Issuer
) -> None:
    billing = Billing(statuses=[500, 302])
    app = web.Application()
    app.router.add_post("/notices", billing.take)
    async with TestServer(app) as server:
        url = str(server.make_url("/notices"))
        chosen = replace(
            settings,
            oidc_issuer=issuer.url,
            plan_approval="webhook",
            plan_approval_url=url,
            plan_approval_secret=SECRET,
        )
        async with running_edge(chosen, tmp_path) as edge:
            signed_in = SignedIn(edge, issuer)
            made = (await signed_in.ask("POST", "/org", body={"name": "Acme"})).json
            for _ in range(3):
                head, body = await billing.next()
                edge.resources.plan_notices.wake()
            signed = b".".join((head["webhook-id"].encode(), head["webhook-timestamp"].encode(), body))
            expected = base64.b64encode(hmac.digest(SECRET.encode(), signed, hashlib.sha256)).decode()
            assert head["webhook-signature"] == f"v1,{expected}"
            notice = msgspec.json.decode(body)
            assert notice["data"]["organization_id"] == made["id"]
            assert notice["data"]["requested_plan"] == "brand"
            assert len({post[0]["webhook-id"] for post in billing.posts}) == 1
            await _until_noted(edge.settings)
            assert len(billing.posts) == 3, "a redirect is not followed, and what was taken is not sent again"
            assert (await signed_in.ask("GET", "/org")).json["plan"] == "free"


async def _until_noted(settings: Settings) -> None:
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        async with asyncio.timeout(10):
            query = "SELECT count(*) FROM plan_requests WHERE notified_at IS NULL"
            while connection.execute(query).fetchone() != (0,):
                await asyncio.sleep(0.01)


def test_an_unusable_way_of_approval_is_refused_at_the_start() -> None:
    assert Settings.from_environment({}).plan_approval == "manual"
    webhook = {"PLAN_APPROVAL": "webhook"}
    for given in (
        {"PLAN_APPROVAL": "auto"},
        webhook,
        {**webhook, "PLAN_APPROVAL_URL": "https://billing.example"},
        {**webhook, "PLAN_APPROVAL_URL": "file:///etc/passwd", "PLAN_APPROVAL_SECRET": SECRET},
    ):
        with pytest.raises(ConfigurationError, match="PLAN_APPROVAL"):
            Settings.from_environment(given)
