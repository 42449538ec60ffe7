"""Kept reports that are asked again each week or month: ordered when due, for the ordinary charge."""

import asyncio
import contextlib
from typing import NamedTuple
from uuid import UUID

from edge.composition import Services
from edge.dashboard.catalogue import Catalogue
from edge.dashboard.page_requests import PageError
from edge.dashboard.question_pages import QuestionPages, filled_form
from edge.dashboard.reports import FORMS, ReportPages
from edge.dashboard.saved_reports import SQL
from edge.dashboard.sessions import Cookies, Sessions
from edge.http.context import Context, uuid7
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from edge.storage.background import Background
from edge.storage.database import Scope
from shared.errors import ItemIndexError, StoreUnavailable
from shared.organizations.accounts import Plan, Principal
from shared.organizations.roles import may

_SWEEP_SECONDS = 60.0
# Longer than an order takes: an edge that dies over one leaves it to another edge.
_LEASE_SECONDS = 300
_SCOPE = Scope(task="report-schedules")
_NOBODY = "The member who scheduled it may not ask for reports any more."
_PLAN = "The organization's plan does not include this report any more."


class DueReport(NamedTuple):
    """A claimed report; `run` names the moment at which it was due."""

    id: str
    organization: str
    person: str
    question: str
    run: str

    @property
    def charge_id(self) -> str:
        """The id under which a run is charged once, however often it is tried."""
        return f"{UUID(self.id).hex}-{self.run}"


class ReportSchedules(Background):
    """Orders what is due and mails what has ended, once a minute in each edge."""

    def __init__(
        self, services: Services, sessions: Sessions, cookies: Cookies, *, sweep_seconds: float = _SWEEP_SECONDS
    ) -> None:
        super().__init__(self._run_forever, services.resources.log)
        self._services = services
        self._database = services.resources.database
        self._reports = ReportPages(services, sessions, cookies)
        self._questions = QuestionPages(services, sessions, cookies, Catalogue(services), self._reports)
        self._sweep_seconds = sweep_seconds

    async def _run_forever(self) -> None:
        while True:
            await asyncio.sleep(self._sweep_seconds)
            with contextlib.suppress(StoreUnavailable):
                await self.sweep()

    async def sweep(self) -> None:
        """Order each report that is due, and queue the mails of those that have ended. Raises StoreUnavailable."""
        while due := await self._database.fetch(SQL.claim_scheduled, _LEASE_SECONDS, scope=_SCOPE):
            await self._run_one(DueReport(*due[0]))
        await self._database.fetch(SQL.mail_scheduled, scope=_SCOPE)

    async def _run_one(self, due: DueReport) -> None:
        order, reason = None, None
        try:
            order = await self._order(due)
        except PageError as error:
            reason = error.text
        except (Problem, ItemIndexError) as error:
            problem = problem_of(error)
            if problem is None or problem.type.status >= 500 or _is_brief(problem):
                return  # the lease runs out, and it is tried again
            reason = "; ".join(fault.detail for fault in problem.faults) or problem.cause
        await self._database.fetch(SQL.end_scheduled, due.id, order, reason, scope=_SCOPE)

    async def _order(self, due: DueReport) -> str:
        """Order one run; return the order's id. Raises PageError and problems."""
        person = await self._services.resources.users.by_id(due.person)
        member = person.membership(due.organization) if person else None
        if member is None or member.state != "active" or not may(member.role, "call"):
            raise PageError(403, _NOBODY)
        question = await self._questions.asked_by(due.question)
        plan = await self._services.resources.credentials.plan(member.plan)
        if plan.rank < FORMS[question.preset.report].rank_min:
            raise PageError(403, _PLAN)
        context = Context(uuid7().hex, due.charge_id, "", endpoint="dashboard-reports")
        return await self._reports.order(context, _caller(due, plan), filled_form(question))


def _caller(due: DueReport, plan: Plan) -> Principal:
    return Principal("bearer", due.person, plan, due.organization)


def _is_brief(problem: Problem) -> bool:
    """Return whether a limit is one of a moment, such as units a second, and not that of the day."""
    policy = str(problem.extra.get("policy", ""))
    return problem.type.status == 429 and not policy.endswith("-daily")
