"""Forms over request schemas: their fields, what a filled-in form orders, its faults by field, and their pages."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from marshmallow import Schema, fields, validate
from multidict import MultiDict, MultiMapping

from edge.dashboard.page_requests import PageError, form_of
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.faults import LISTS, Fault, shown_value
from edge.http.parameters import CurrencyCode, Day, JsonInteger, JsonNumber, WholeNumber
from edge.http.problem_details import problem_of
from edge.http.problems import Problem, invalid_parameters
from edge.http.validation import fields_by_name, load
from shared.errors import ItemIndexError
from shared.organizations.accounts import Principal

_TEXT_MAX = 400
_SEVERAL = "; repeat to select several"
_NONE: Mapping[str, Any] = {}
# What pages say of a parameter in place of what the API's document says, whichever form it is in.
_WORDS: Mapping[str, Mapping[str, Any]] = {
    "code": {"label": "Category", "completes": "category"},
    "slug": {"label": "Brand", "completes": "brand"},
    "brand": {"label": "Brands", "completes": "brand", "sentence": "Type a name to choose it"},
    "category": {"label": "Categories", "completes": "category", "sentence": "With those below it"},
    "channel": {"label": "Shops", "completes": "channel", "sentence": "All if empty"},
    "granularity": {"label": "Periods"},
    "group_by": {"label": "Grouped by", "sentence": "Group by one or two of these", "default": "No grouping"},
    "kind": {"label": "Prices of"},
}
_INPUTS: tuple[tuple[Any, Mapping[str, str]], ...] = (
    (Day, {"type": "date"}),
    (fields.Email, {"type": "email"}),
    (WholeNumber, {"inputmode": "numeric"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A field of a form, with the sentence under it.

    `parameter` is its path in the request, `declared` its schema there. `choices` are values with their texts;
    `default` is the text of a choice that is left empty. `first` are the texts of a new form; boxes that are checked as
    at first order what an absent parameter does. `missing` is the fault of a field that may not be empty, and
    `completes` names the list below /dashboard/completions that completes the text. `attributes` are more attributes of
    the input, and a `wide` one has a row of its own.
    """

    name: str
    parameter: str
    declared: fields.Field[Any]
    label: str
    sentence: str
    control: Literal["text", "choice", "boxes"]
    choices: tuple[tuple[str, str], ...]
    default: str
    attributes: Mapping[str, Any]
    first: tuple[str, ...] = ()
    missing: str = ""
    completes: str = ""
    wide: bool = False

    def value(self, texts: list[str]) -> Any:
        """Return what a program would send for these texts, None for nothing."""
        if self.control == "boxes":
            return texts if tuple(texts) != self.first else None
        if isinstance(self.declared, fields.List):
            parts = (part.strip() for text in texts for part in text.split(","))
            return [_typed(part, self.declared.inner) for part in parts if part] or None
        text = texts[0].strip() if texts else ""
        return _typed(text, self.declared) if text else None


def _typed(text: str, declared: fields.Field[Any]) -> Any:
    """Return a text as JSON has it for this parameter; text that is no number stays, so that the schema refuses it."""
    if isinstance(declared, CurrencyCode):
        return text.upper()
    if isinstance(declared, JsonInteger | JsonNumber):
        try:
            return msgspec.json.decode(text, type=int | float)
        except msgspec.DecodeError:
            return text
    return text


@dataclass(frozen=True, slots=True)
class Form:
    """A form over a request schema, as it is filled in: its texts and their faults by the names of its fields.

    `hidden` are fields that nobody fills in, and `fixed` the members of the request that no field has. The empty name
    holds a fault of no single field.
    """

    schema: Schema
    fields: tuple[FormField, ...]
    hidden: Mapping[str, str]
    fixed: Mapping[str, Any]
    given: MultiMapping[str] = field(default_factory=MultiDict)
    faults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def over(
        cls,
        schema: Schema,
        parameters: Iterable[str],
        words: Mapping[str, Mapping[str, Any]] = _NONE,
        hidden: Mapping[str, str] = _NONE,
        fixed: Mapping[str, Any] = _NONE,
    ) -> "Form":
        """Return the form of these parameters, each by its path in the request; `words` are members of their fields."""
        return cls(schema, tuple(_field(schema, path, words.get(path, _NONE)) for path in parameters), hidden, fixed)

    def begun(self, given: MultiMapping[str]) -> "Form":
        """Return the form as an address fills it in; what the address leaves out is as it is at first.

        A choice that the form does not have is a fault of its field: the page could not show that it was asked for.
        """
        texts = MultiDict((name, text) for name, text in given.items() if len(text) <= _TEXT_MAX)
        faults = {
            one.name: f"`{shown_value(text)}` is not a choice here; choose another"
            for one in self.fields
            for text in texts.getall(one.name, [])
            if text and one.choices and text not in dict(one.choices)
        }
        texts.extend((one.name, text) for one in self.fields if one.name not in texts for text in one.first)
        return replace(self.sent(texts), faults=faults)

    def sent(self, given: MultiMapping[str]) -> "Form":
        """Return the form as a person has submitted it."""
        return replace(self, given=given)

    @property
    def typed(self) -> dict[str, str]:
        """The texts that a person has typed or chosen, also those that this form has no field for."""
        first = {(one.name, text) for one in self.fields for text in one.first}
        left_out = {*self.hidden, "csrf", "once", *(one.name for one in self.fields if one.control == "boxes")}
        given = ((name, text) for name, text in self.given.items() if text.strip() and name not in left_out)
        return {name: text for name, text in given if (name, text) not in first}

    @property
    def kept(self) -> str:
        """What was typed, as the query of another form's address."""
        return urlencode(self.typed)

    @property
    def foreign(self) -> list[str]:
        """The names of what was typed for other forms."""
        return sorted(self.typed.keys() - {one.name for one in self.fields})

    @property
    def untouched(self) -> bool:
        """Whether nothing was typed or chosen; what is checked says nothing of that."""
        return not self.typed and all(one.control != "boxes" for one in self.fields)

    def body(self) -> dict[str, Any]:
        """Return what a program would send for this form: only what was filled in.

        Raises `invalid-parameter` where a field may not be empty, and for a field that the form lacks.
        """
        body = dict(self.fixed)
        # Left out in silence, another question would be asked and charged than the one that was typed.
        faults = [Fault("form", f"This form has no field {', '.join(self.foreign)}.")] * bool(self.foreign)
        for one in self.fields:
            texts = self.given.getall(one.name, [])
            if one.missing and not any(text.strip() for text in texts):
                faults.append(Fault(one.parameter, one.missing))
            elif (value := one.value(texts)) is not None:
                outer, _, last = one.parameter.rpartition(".")
                (body.setdefault(outer, {}) if outer else body)[last] = value
        if faults:
            raise invalid_parameters(faults)
        return body

    def load(self) -> dict[str, Any]:
        """Return the body as its schema reads it. Raises the problems of parameters."""
        return load(self.schema, self.body())

    def refused(self, error: Problem | ItemIndexError) -> "Form":
        """Return the form with the faults that an error names, without a name where it has no such field.

        Raises the error itself where it is of something else than what was typed.
        """
        problem = problem_of(error)
        if problem is None or (problem.type.status not in (400, 404) and problem.type.slug != "state-conflict"):
            raise error
        known = {one.parameter: one for one in self.fields}
        faults: dict[str, str] = {}
        for fault in problem.faults or [Fault("", problem.cause)]:
            one = known.get(fault.parameter)
            name, text = one.name if one else "", _sentence(fault, one)
            faults[name] = f"{faults[name]}. {text}" if name in faults else text
        return replace(self, faults=faults)


def _sentence(fault: Fault, one: "FormField | None") -> str:
    """Return what a fault says under its field, which suggests the brands, categories and channels that there are."""
    text = fault.detail
    if one is not None and isinstance(one.declared, fields.List):  # of several values it is said which one is meant
        text = fault._replace(listed_at="").of_value
    if not fault.listed_at:
        return text
    item = fault.listed_at == LISTS["item"]
    return f"{text}; {'find it in the explorer' if item else 'type its first letters to see suggestions'}"


def _field(schema: Schema, path: str, words: Mapping[str, Any]) -> FormField:
    """Return the field of a parameter as its schema and the words of the page describe it."""
    outer, _, name = path.rpartition(".")
    nested: Any = fields_by_name(schema)[outer] if outer else None
    declared = fields_by_name(nested.schema if nested else schema)[name]
    inner = declared.inner if isinstance(declared, fields.List) else declared
    allowed = next((list(map(str, one.choices)) for one in inner.validators if isinstance(one, validate.OneOf)), [])
    # A list of choices also offers every pair.
    pairs = [",".join(pair) for pair in combinations(allowed, 2)] if inner is not declared else []
    usual, example = declared.load_default, declared.metadata.get("example")
    described: dict[str, Any] = {
        "label": name.replace("_", " ").capitalize(),
        "sentence": declared.metadata.get("description") or (f"For example `{example}`." if example else ""),
        "choices": tuple((value, in_words(value.replace(",", " and "))) for value in (*allowed, *pairs)),
        "default": f"Default ({usual})" if isinstance(usual, str) else "" if declared.required else "Default",
        "attributes": next((given for kind, given in _INPUTS if isinstance(inner, kind)), _NONE),
        **_WORDS.get(name, {}),
        **words,
    }
    control = described.setdefault("control", "choice" if described["choices"] else "text")
    if control == "text" and inner is not declared:
        described["sentence"] = f"{described['sentence'].partition(_SEVERAL)[0]}; separate several with commas"
    if control == "choice" and not described["default"]:
        described["first"] = (described["choices"][0][0],)
    return FormField(**{"name": name, "parameter": path, "declared": declared, **described})


def in_words(text: str) -> str:
    """Return words of the API as a page has them: a channel is a shop to people."""
    return text.replace("channel", "shop")


class Choice(NamedTuple):
    """One of several forms on a page: its title and sentence, the least rank of plan that may order it, the form."""

    title: str
    sentence: str
    rank_min: int
    form: Form


class FormOffer(NamedTuple):
    """What a filled-in form costs: units, whether its result is stored, and the call of the API that asks the same.

    `sent` are the arguments with which curl sends a body; `estimate` says how many rows it is, and holds the first.
    """

    units: int
    url: str
    stored: bool = False
    sent: str = ""
    estimate: Mapping[str, Any] | None = None


class FormPages(Pages, ABC):
    """The pages of a form for several choices: new, previewed, and shown again with its faults until it is ordered.

    The hidden field `chooses` holds the choice. `crumb` is the title of the list at `path`; without it, the form is
    there. `remark` leads to the pages of brands and categories.
    """

    path: ClassVar[str]
    title: ClassVar[str]
    button: ClassVar[str]
    chooses: ClassVar[str]
    choices: ClassVar[Mapping[str, Choice]]
    crumb: ClassVar[str] = ""
    remark: ClassVar[str] = ""
    previews: ClassVar[bool] = True

    async def _about(self, form: Form) -> object:
        """Return what the template shows of what the form is about; nothing for most."""
        return None

    @abstractmethod
    async def _act(
        self, request: web.Request, visitor: SignedIn, principal: Principal, form: Form
    ) -> web.StreamResponse:
        """Order what the form asks, and show it. Raises problems that name its parameters."""

    async def _offer(self, request: web.Request, principal: Principal, form: Form) -> FormOffer:
        """Return what the form costs as it is. Raises as `_act`."""
        raise NotImplementedError

    async def new(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The form of the choice in the address, which can also fill in its fields."""
        asked = request.query.get(self.chooses, "")
        choice = asked if asked in self.choices else next(iter(self.choices))
        return await self._show(request, visitor, choice, self.choices[choice].form.begun(request.query))

    async def preview(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """What the filled-in form costs, or the fault of each field beside it; charges nothing."""
        choice, form, offer = *self._sent(request.query), None
        principal = await self._principal(visitor, self.choices[choice].rank_min)
        try:
            offer = await self._offer(request, principal, form)
        except (Problem, ItemIndexError) as error:
            form = form.refused(error)
        return render(request, "preview.html", visitor, form=form, offer=offer)

    async def submit(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order what the form asks. A form that is not valid, or not allowed, is shown again as it was filled in."""
        choice, form = self._sent(await form_of(request))
        if await self._refusal(visitor, self.choices[choice].rank_min):
            return await self._show(request, visitor, choice, form, 403)
        try:
            return await self._act(request, visitor, await self._principal(visitor), form)
        except (Problem, ItemIndexError) as error:
            return await self._show(request, visitor, choice, form.refused(error), 400)

    def _sent(self, given: MultiMapping[str]) -> tuple[str, Form]:
        choice = given.get(self.chooses, "")
        if choice not in self.choices:
            raise PageError(400, "The form is incomplete. Open its page again.")
        return choice, self.choices[choice].form.sent(given)

    async def _show(
        self, request: web.Request, visitor: SignedIn, choice: str, form: Form, status: int = 200
    ) -> web.StreamResponse:
        plan = await self._plan(visitor)
        refusal = await self._refusal(visitor, self.choices[choice].rank_min)
        values = {"page": self, "chosen": choice, "form": form, "plan": plan, "refusal": refusal}
        values["about"] = await self._about(form)
        return render(request, "form.html", visitor, status, **values)
