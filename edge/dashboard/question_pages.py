"""Asking a question in plain words: what, when, compared by what; and the questions that are kept under a name."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from multidict import MultiDict, MultiMapping

from edge.composition import Services
from edge.dashboard.catalogue import BrandOrCategory, Catalogue
from edge.dashboard.explorer import SuggestingPages
from edge.dashboard.forms import Form
from edge.dashboard.page_requests import PageError, form_of, redirect
from edge.dashboard.question_presets import (
    ALL,
    OWN,
    PRESETS,
    PRESETS_BY_NAME,
    SUBJECTS_MAX,
    AskedQuestion,
    Kind,
    Subject,
    keys_in_address,
)
from edge.dashboard.rendering import render
from edge.dashboard.reports import FORMS, ReportPages
from edge.dashboard.saved_reports import SCHEDULES, SavedReports, checked_name
from edge.dashboard.sessions import Cookies, Sessions
from edge.dashboard.visitor import SignedIn
from edge.http.context import CONTEXT
from edge.http.problem_details import problem_of
from edge.http.problems import Problem
from edge.index import lists
from shared.errors import ItemIndexError
from shared.organizations.accounts import BRAND
from shared.search.suggesting import Suggestion

_PAGE, _REPORTS = "/dashboard/questions", "/dashboard/jobs"
_TYPED_MAX, _ADDRESS_MAX = 200, 4_000
_SUGGESTIONS, _EXAMPLES = 8, 5


class QuestionPages(SuggestingPages):
    """The handlers. The whole state of a question is its address, so that it works without scripts and can be sent."""

    def __init__(
        self, services: Services, sessions: Sessions, cookies: Cookies, catalogue: Catalogue, reports: ReportPages
    ) -> None:
        super().__init__(services, sessions, cookies)
        self._catalogue = catalogue
        self._reports = reports
        self._saved = SavedReports(self._database)
        self._known_examples: dict[tuple[Kind, ...], tuple[int, list[Subject]]] = {}

    async def show(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The question that the address asks, with what it costs; without one, the six questions."""
        if request.query.get("question") not in PRESETS_BY_NAME:
            return render(request, "questions.html", visitor, presets=PRESETS, examples=await self.examples())
        question = await self._asked(request.query)
        typed, found = request.query.get("add", "").strip()[:_TYPED_MAX], []
        if typed:
            async with self._charge_suggestion(request, visitor) as charge:
                found = await self._suggestions(question, typed)
                charge.settle(web.Response())
        return await self._page(request, visitor, question, typed=typed, found=found)

    async def suggestions(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Brands and categories to add while a person types."""
        question = await self._asked(request.query)
        typed = request.query.get("add", "").strip()[:_TYPED_MAX]
        async with self._charge_suggestion(request, visitor) as charge:
            found = await self._suggestions(question, typed) if typed else []
            template = "question_suggestions.html"
            return charge.settle(render(request, template, visitor, question=question, typed=typed, found=found))

    async def ask(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order the report that answers the question, keep the question where it was given a name, and show it."""
        form = await form_of(request)
        asked = form.get("asked", "")[:_ADDRESS_MAX]
        name = form.get("name", "").strip()
        name = checked_name(name) if name else ""
        question = await self.asked_by(asked)
        principal = await self._principal(visitor, FORMS[question.preset.report].rank_min)
        try:
            order = await self._reports.order(request[CONTEXT], principal, filled_form(question))
        except (Problem, ItemIndexError) as error:
            return await self._page(request, visitor, question, refused=_sentence(error))
        if name:
            saved = await self._saved.add(visitor.acting, name, question.address())
            await self._saved.note_run(visitor.acting, saved, order)
        return redirect(f"{_REPORTS}/{order}")

    async def run(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Ask a kept question again, of the newest days where its days are relative."""
        saved = request.match_info["id"]
        question = await self.asked_by(await self._saved.question(visitor.acting, saved))
        principal = await self._principal(visitor, FORMS[question.preset.report].rank_min)
        order = await self._reports.order(request[CONTEXT], principal, filled_form(question))
        await self._saved.note_run(visitor.acting, saved, order)
        return redirect(f"{_REPORTS}/{order}")

    async def rename(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Give a kept question another name."""
        await self._principal(visitor, BRAND)
        await self._saved.rename(visitor.acting, request.match_info["id"], (await form_of(request)).get("name", ""))
        return redirect(_REPORTS)

    async def delete(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Delete a kept question."""
        await self._principal(visitor, BRAND)
        await self._saved.delete(visitor.acting, request.match_info["id"])
        return redirect(_REPORTS)

    async def _page(
        self,
        request: web.Request,
        visitor: SignedIn,
        question: AskedQuestion,
        *,
        typed: str = "",
        found: list[Suggestion] | None = None,
        refused: str = "",
    ) -> web.StreamResponse:
        choice = FORMS[question.preset.report]
        refusal = await self._refusal(visitor, choice.rank_min)
        units, days_missing = None, question.when == OWN and question.span is None
        if question.is_complete and not refusal and not refused and not days_missing:
            try:
                units = await self._reports.price(await self._principal(visitor), filled_form(question))
            except (Problem, ItemIndexError) as error:
                refused = _sentence(error)
        return render(
            request,
            "question.html",
            visitor,
            400 if refused and request.method == "POST" else 200,
            question=question,
            typed=typed,
            found=found or [],
            examples=[] if question.subjects else await self.examples(question.preset.kinds),
            units=units,
            refusal=refusal,
            refused=refused,
            days_missing=days_missing,
            more_allowed=len(question.subjects) < (SUBJECTS_MAX if question.preset.several else 1),
            others=[preset for preset in PRESETS if preset != question.preset],
            choice=choice,
            expert=_expert_address(question),
        )

    async def schedule(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Ask a kept question again each week or month in the visitor's name, or no longer."""
        every = (await form_of(request)).get("every", "")
        if every not in ("", *SCHEDULES):
            raise PageError(400, "Choose how often the report runs.")
        await self._principal(visitor, BRAND)
        await self._saved.schedule(visitor.acting, request.match_info["id"], every or None)
        return redirect(_REPORTS)

    async def asked_by(self, address: str) -> AskedQuestion:
        """Return the question that the query of an address asks. Raises PageError for one that does not exist."""
        return await self._asked(MultiDict(parse_qsl(address)))

    async def _asked(self, given: MultiMapping[str]) -> AskedQuestion:
        """Return the question of an address. Raises PageError for one that does not exist."""
        preset = PRESETS_BY_NAME.get(given.get("question", ""))
        if preset is None:
            raise PageError(400, "This question does not exist. Choose one of the six.")
        keys = keys_in_address(given.getall("what", []), preset)
        subjects = [subject for kind, code in keys if (subject := await self._subject(kind, code))]
        when, first, last = (given.get(name, "")[:10] for name in ("when", "from", "to"))
        by, is_example = given.get("by", "")[:20], given.get("example") == "1"
        return AskedQuestion(preset, tuple(subjects), when or ALL, by, first, last, is_example)

    async def _subject(self, kind: Kind, code: str) -> Subject | None:
        """Return a brand or category; None for one that is gone."""
        group = await (self._catalogue.brand(code) if kind == "brand" else self._catalogue.category(code))
        return _subject_of(group, kind) if group else None

    async def _suggestions(self, question: AskedQuestion, typed: str) -> list[Suggestion]:
        _, found = await self._services.resources.search.suggest(typed, _SUGGESTIONS)
        chosen = {(one.kind, one.code) for one in question.subjects}
        fitting = [one for one in found if one.kind in question.preset.kinds and (one.kind, one.value) not in chosen]
        return [*fitting, *(one for one in found if one.kind == "item")][:_SUGGESTIONS]

    async def examples(self, kinds: tuple[Kind, ...] = ("brand", "category")) -> list[Subject]:
        """Return what a question can be asked of: the longest history, the category of most items, the largest brands.

        It is read once for each data_version: Home shows it to everybody.
        """
        version, known = self._services.data_version(), self._known_examples.get(kinds)
        if known is None or known[0] != version:
            known = self._known_examples[kinds] = version, await self._read_examples(kinds)
        return known[1]

    async def _read_examples(self, kinds: tuple[Kind, ...]) -> list[Subject]:
        summary = await self._catalogue.summary()
        rows = await self._database.fetch(lists.SQL.brands_by_items, None, None, None, None, _EXAMPLES)
        codes = [code for code in (summary.longest[0] if summary.longest else None, summary.widest) if code]
        keys: list[tuple[Kind, str]] = [("category", code) for code in dict.fromkeys(codes) if "category" in kinds]
        keys += [("brand", row["slug"]) for row in rows if "brand" in kinds]
        found = [await self._subject(kind, code) for kind, code in keys[:_EXAMPLES]]
        return [subject for subject in found if subject and subject.first]


def _subject_of(group: BrandOrCategory, kind: Kind) -> Subject:
    first = min((days.first for days in group.days), default=None)
    last = max((days.last for days in group.days), default=None)
    return Subject(kind, group.code, group.name, group.items, first, last)


def filled_form(question: AskedQuestion) -> Form:
    """Return the form of the report that answers a question, filled in. Raises PageError for one without a subject."""
    if not question.is_complete:
        raise PageError(400, "Choose a brand or a category first.")
    return FORMS[question.preset.report].form.sent(_texts(question.parameters()))


def _texts(parameters: Mapping[str, str | list[str]]) -> MultiDict[str]:
    listed = ((name, value if isinstance(value, list) else [value]) for name, value in parameters.items())
    return MultiDict((name, text) for name, values in listed for text in values)


def _expert_address(question: AskedQuestion) -> str:
    """Return the address of the form with all options, filled in as the question is."""
    given = _texts({"kind": question.preset.report, **question.parameters()})
    joined = {name: ",".join(given.getall(name)) for name in given}
    return f"/dashboard/reports?{urlencode(joined)}"


def _sentence(error: Problem | ItemIndexError) -> str:
    """Return what an error says of the question. Raises the error itself where it is of something else."""
    problem = problem_of(error)
    if problem is None or problem.type.status not in (400, 404, 409):
        raise error
    return "; ".join(fault.detail for fault in problem.faults) or problem.cause
