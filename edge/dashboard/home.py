"""Home: what came, what can be asked, what was asked, what fired, what is left; and the plans of the organization."""

from typing import Any, NamedTuple

from aiohttp import web

from edge.auth.actor import Actor
from edge.composition import Services
from edge.dashboard.catalogue import Catalogue
from edge.dashboard.organization import HOME_PAGE
from edge.dashboard.page_requests import form_of, redirect
from edge.dashboard.pages import Pages
from edge.dashboard.question_pages import QuestionPages
from edge.dashboard.question_presets import PRESETS, preset_of
from edge.dashboard.rendering import render
from edge.dashboard.reports import names_in, parameters_of, question_in_words
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import SignedIn
from edge.organizations.service import usage_range
from edge.quota.page import windows_of
from shared.errors import StoreUnavailable
from shared.organizations.accounts import BRAND, Plan

_RECENT, _EXPORT = 5, "export"


class FirstStep(NamedTuple):
    """One of the first steps of an organization: its text, whether it is done, and the page for it."""

    text: str
    done: bool
    link: str
    act: str


class HomePages(Pages):
    def __init__(
        self, services: Services, sessions: Sessions, cookies: Cookies, catalogue: Catalogue, questions: QuestionPages
    ) -> None:
        super().__init__(services, sessions, cookies)
        self._catalogue = catalogue
        self._questions = questions

    async def overview(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The newest data, the questions, recent reports, watches, and the units that are left today."""
        summary = await self._summary()
        if visitor.membership is None:
            free = await self._credentials.plan("free")
            token = await self._acts.token(visitor.person)
            return render(request, "welcome.html", visitor, token=token, free=free, summary=summary)
        membership, actor = visitor.member, visitor.acting
        plan = await self._credentials.plan(membership.plan)
        decision = await self._services.resources.limiter.usage(f"org:{membership.organization_id}", plan)
        includes_reports = plan.rank >= BRAND
        return render(
            request,
            "overview.html",
            visitor,
            plan=plan,
            limits=windows_of(decision),
            summary=summary,
            presets=PRESETS,
            examples=await self._questions.examples() if summary else [],
            recent=await self._recent(actor) if includes_reports else [],
            watches=await self._watches(actor) if includes_reports else None,
            steps=await self._steps(actor),
            requested_plan=await self._requested_plan(actor),
            includes_reports=includes_reports,
        )

    async def plan(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The plans, what each includes, and the request of a higher one."""
        actor, own = visitor.acting, await self._credentials.plan(visitor.member.plan)
        listed = await self._credentials.all_plans()
        plans = [plan for plan in listed if plan.counted_by == "organization" or plan.name == own.name]
        return render(
            request,
            "plan.html",
            visitor,
            own=own,
            plans=sorted(plans, key=lambda plan: plan.rank),
            requested_plan=await self._requested_plan(actor),
            requestable={plan.name for plan in self._higher_plans(own)} if actor.may("manage-plan") else set(),
            at_once=self._acts.plans_at_once,
        )

    async def request_plan(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Request another plan; the page of plans says that it is awaiting approval."""
        await self._acts.request_plan(visitor.acting, (await form_of(request)).get("plan", ""))
        self._services.resources.plan_notices.wake()
        return redirect(f"{HOME_PAGE}/plan")

    def _higher_plans(self, plan: Plan) -> list[Plan]:
        """Return the plans that an organization with this one may request."""
        higher = [other for other in self._credentials.plans.values() if other.rank > plan.rank]
        return [other for other in higher if other.self_service or not self._acts.plans_at_once]

    async def _requested_plan(self, actor: Actor) -> Plan | None:
        name = await self._acts.requested_plan(actor)
        return await self._credentials.plan(name) if name else None

    async def _summary(self) -> Any:
        """Return what the index holds; None while the search index is missing, which is no reason to show no page."""
        try:
            return await self._catalogue.summary()
        except StoreUnavailable:
            return None

    async def _recent(self, actor: Actor) -> list[tuple[Any, str, str]]:
        """Return the newest reports: their orders, what was asked, and of what."""
        orders, _ = await self._services.orders.list(actor.organization, None, None, _RECENT, None)
        reports = [order for order in orders[:_RECENT] if order.row["kind"] != _EXPORT]
        names = await names_in(self._database, [parameters_of(order) for order in reports])
        recent = []
        for order in reports:
            preset = preset_of(order.row["kind"], parameters_of(order))
            title = preset.title if preset else str(order.row["kind"])
            recent.append((order, title, question_in_words(order, names)))
        return recent

    async def _watches(self, actor: Actor) -> int:
        """Return how many watches the organization has."""
        _, total = await self._services.watches.page(actor, 1, None)
        return total

    async def _steps(self, actor: Actor) -> list[FirstStep]:
        first, last = usage_range(None, None)
        keys = await self._acts.keys(actor)
        called = any(row["credential"].startswith("api-key:") for row in await self._acts.usage(actor, first, last))
        colleagues = len(await self._acts.members(actor)) + len(await self._acts.invitations(actor)) - 1
        return first_steps(bool(keys), called, colleagues == 0)


def first_steps(key: bool, called: bool, alone: bool) -> list[FirstStep]:
    """Return the first steps of a new organization in their order; none once all are done."""
    steps = [
        FirstStep("Issue an API key", key, "/dashboard/key", "Issue key"),
        FirstStep("Make the first call with it", called, "/v1/docs", "First calls"),
        FirstStep("Invite a colleague", not alone, "/dashboard/members", "Invite"),
    ]
    return [] if all(step.done for step in steps) else steps
