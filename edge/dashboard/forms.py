"""Forms over request schemas: their fields, what a filled-in form orders, its faults by field, and their pages."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
from aiohttp import web
from marshmallow import Schema, ValidationError, fields, validate
from multidict import MultiDict, MultiMapping

from edge.analytics.envelope import Day
from edge.dashboard.acting import PageBilling
from edge.dashboard.session_guard import PageError, SignedIn, form_of, render
from edge.http.parameters import CurrencyCode, JsonInteger, JsonNumber, WholeNumber, fields_by_name, in_our_words
from edge.http.problems import Problem
from shared.organizations.accounts import Principal

_TEXT_MAX = 400
_SEVERAL = "; repeat to select several"
# What the page says of a parameter in place of what the API's document says, whichever form it is in.
_WORDS: Mapping[str, Mapping[str, Any]] = {
    "code": {"label": "Category", "completes": "category"},
    "slug": {"label": "Brand", "completes": "brand"},
    "brand": {"label": "Brands", "completes": "brand"},
    "category": {"label": "Categories", "completes": "category"},
    "channel": {"label": "Channels", "completes": "channel"},
    "granularity": {"label": "Periods"},
    "group_by": {"label": "Grouped by", "sentence": "Group by one or two of these", "default": "No grouping"},
    "kind": {"label": "Prices of"},
}
_INPUTS: tuple[tuple[Any, Mapping[str, str]], ...] = (
    (Day, {"type": "date"}),
    (fields.Email, {"type": "email"}),
    (WholeNumber | JsonInteger, {"inputmode": "numeric"}),
)
_NONE: Mapping[str, Any] = {}
_NOT_FOUND = {"brand-not-found": "slug", "category-not-found": "code"}


class FormFaults(PageError):
    """The faults of a form by the names of parameters."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(400, " ".join(f"{name}: {text}" if name else text for name, text in faults.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
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
    sentence: str = ""
    control: Literal["text", "choice", "boxes"] = "text"
    choices: tuple[tuple[str, str], ...] = ()
    default: str = ""
    first: tuple[str, ...] = ()
    missing: str = ""
    completes: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    wide: bool = False

    def value(self, texts: list[str]) -> Any:
        """Return what a program would send for these texts, None for nothing. Raises FormFaults."""
        if self.missing and not any(text.strip() for text in texts):
            raise FormFaults({self.parameter: self.missing})
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
    fields: tuple[Field, ...]
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
        made = (_field(path, _declared(schema, path), words.get(path, {})) for path in parameters)
        return cls(schema, tuple(made), hidden, fixed)

    def begun(self, given: MultiMapping[str]) -> "Form":
        """Return the form as an address fills it in; what the address leaves out is as it is at first."""
        texts = MultiDict((name, text) for name, text in given.items() if len(text) <= _TEXT_MAX)
        for one in self.fields:
            if one.name not in texts:
                texts.extend((one.name, text) for text in one.first)
        return replace(self, given=texts)

    def sent(self, given: MultiMapping[str]) -> "Form":
        """Return the form as a person has submitted it."""
        return replace(self, given=given)

    @property
    def foreign(self) -> list[str]:
        """The names of what was typed for other forms."""
        known = {one.name for one in self.fields} | {*self.hidden, "csrf", "once"}
        return sorted({name for name, text in self.given.items() if text.strip()} - known)

    @property
    def kept(self) -> str:
        """What was typed as the query of another form's address, also what this form has no field for."""
        unchanged = {one.name for one in self.fields if one.control == "boxes" or self._texts(one) == one.first}
        left_out = unchanged | {*self.hidden, "csrf", "once"}
        return urlencode([(name, text) for name, text in self.given.items() if text.strip() and name not in left_out])

    def _texts(self, one: Field) -> tuple[str, ...]:
        return tuple(text for text in self.given.getall(one.name, []) if text.strip())

    @property
    def untouched(self) -> bool:
        """Whether the form is as it is at first."""
        texts = ((one, self._texts(one)) for one in self.fields)
        return all(given == one.first or (one.control != "boxes" and not given) for one, given in texts)

    def body(self) -> dict[str, Any]:
        """Return what a program would send for this form: only what was filled in. Raises FormFaults."""
        body: dict[str, Any] = dict(self.fixed)
        faults: dict[str, str] = {}
        if self.foreign:
            # Left out in silence, another question would be asked and charged than the one that was typed.
            faults[""] = f"This form has no field {', '.join(self.foreign)}."
        for one in self.fields:
            *outer, last = one.parameter.split(".")
            try:
                value = one.value(self.given.getall(one.name, []))
            except FormFaults as error:
                faults |= error.faults
                continue
            if value is not None:
                inside = body
                for name in outer:
                    inside = inside.setdefault(name, {})
                inside[last] = value
        if faults:
            raise FormFaults(faults)
        return body

    def load(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a body as its schema reads it. Raises FormFaults with a sentence for each parameter."""
        try:
            loaded: dict[str, Any] = self.schema.load(body)
        except ValidationError as error:
            raise FormFaults(dict(_sentences(error.messages))) from None
        return loaded

    def refused(self, error: PageError | Problem) -> "Form":
        """Return the form with the faults that an error names, without a name where it has no such field.

        Raises the error itself where it is of something else than what was typed.
        """
        if isinstance(error, FormFaults):
            listed = error.faults
        elif isinstance(error, Problem) and (error.type.status in (400, 404) or error.type.slug == "state-conflict"):
            listed = {entry["parameter"]: entry["detail"] for entry in error.extra.get("errors") or []}
            listed = listed or {_NOT_FOUND.get(error.type.slug, ""): error.detail}
        else:
            raise error
        names = {one.parameter: one.name for one in self.fields}
        faults: dict[str, str] = {}
        for parameter, text in listed.items():
            name = names.get(parameter, "")
            faults[name] = f"{faults[name]} {text}" if name in faults else text
        return replace(self, faults=faults)


def _sentences(messages: Any, path: str = "") -> Iterable[tuple[str, str]]:
    """Yield the first sentence of each parameter that a schema refused, by its path; entries of lists are one."""
    for name, inner in messages.items():
        nested = isinstance(inner, dict) and all(isinstance(key, str) for key in inner)
        if nested:
            yield from _sentences(inner, f"{path}{name}.")
            continue
        text = inner
        while not isinstance(text, str):
            text = next(iter(text.values() if isinstance(text, dict) else text))
        yield f"{path}{name}", in_our_words(text)


def _declared(schema: Schema, path: str) -> fields.Field[Any]:
    name, _, rest = path.partition(".")
    found = fields_by_name(schema)[name]
    return _declared(found.schema, rest) if isinstance(found, fields.Nested) else found


def _field(path: str, declared: fields.Field[Any], words: Mapping[str, Any]) -> Field:
    """Return the field of a parameter as its schema and the words of the page describe it."""
    name = path.rpartition(".")[2]
    several = isinstance(declared, fields.List)
    inner = declared.inner if isinstance(declared, fields.List) else declared
    allowed = next((list(map(str, one.choices)) for one in inner.validators if isinstance(one, validate.OneOf)), [])
    # A list of choices also offers every pair.
    pairs = [",".join(pair) for pair in combinations(allowed, 2)] if several else []
    usual = declared.load_default
    sentence = str(declared.metadata.get("description", "")).removesuffix(_SEVERAL)
    described: dict[str, Any] = {
        "label": re.sub("_", " ", name).capitalize(),
        "sentence": sentence,
        "choices": tuple((value, value.replace(",", " and ")) for value in (*allowed, *pairs)),
        "default": f"Default ({usual})" if isinstance(usual, str) else "" if declared.required else "Default",
        **_WORDS.get(name, {}),
        **words,
    }
    attributes = next((given for kind, given in _INPUTS if isinstance(inner, kind)), _NONE)
    longest = [declared.metadata.get("maxLength"), *(getattr(one, "max", None) for one in declared.validators)]
    limit = {"maxlength": max(filter(None, longest))} if isinstance(declared, fields.String) and any(longest) else {}
    described["attributes"] = {**attributes, **limit, **described.get("attributes", {})}
    if described.setdefault("control", "choice" if described["choices"] else "text") == "text" and several:
        described["sentence"] += "; separate several with commas"
    if described["control"] == "choice" and not described["default"]:
        described["first"] = (described["choices"][0][0],)
    return Field(**{"name": name, "parameter": path, "declared": declared, **described})


class Offer(NamedTuple):
    """What a filled-in form costs: units, whether its result is stored, and the call of the API that asks the same.

    `sent` are the arguments with which curl sends a body; `estimate` says how many rows it is, and holds the first.
    """

    units: int
    url: str
    stored: bool = False
    sent: str = ""
    estimate: Mapping[str, Any] | None = None


class Choice(NamedTuple):
    """One of several forms on a page: its title and sentence, the least rank of plan that may order it, the form."""

    title: str
    sentence: str
    rank_min: int
    form: Form


class FormPages(ABC):
    """The pages of a form for several choices: new, previewed, and shown again with its faults until it is ordered.

    The hidden field `chooses` holds the choice. `crumb` is the title of the list at `path`; without it, the form is
    there.
    """

    path: ClassVar[str]
    title: ClassVar[str]
    button: ClassVar[str]
    chooses: ClassVar[str]
    choices: ClassVar[Mapping[str, Choice]]
    crumb: ClassVar[str] = ""
    previews: ClassVar[bool] = True

    def __init__(self, billing: PageBilling) -> None:
        self._billing = billing

    @abstractmethod
    async def _act(
        self, request: web.Request, visitor: SignedIn, principal: Principal, form: Form
    ) -> web.StreamResponse:
        """Order what the form asks, and show it. Raises FormFaults, and problems that name its parameters."""

    async def _offer(self, request: web.Request, principal: Principal, form: Form) -> Offer:
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
        principal = await self._billing.principal(visitor, self.choices[choice].rank_min)
        try:
            offer = await self._offer(request, principal, form)
        except (FormFaults, Problem) as error:
            form = form.refused(error)
        return render(request, "preview.html", visitor, form=form, offer=offer)

    async def submit(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order what the form asks. A form that is not valid, or not allowed, is shown again as it was filled in."""
        choice, form = self._sent(await form_of(request))
        if await self._billing.refusal(visitor, self.choices[choice].rank_min):
            return await self._show(request, visitor, choice, form, 403)
        principal = await self._billing.principal(visitor)
        try:
            return await self._act(request, visitor, principal, form)
        except (FormFaults, Problem) as error:
            return await self._show(request, visitor, choice, form.refused(error), 400)

    def _sent(self, given: MultiMapping[str]) -> tuple[str, Form]:
        choice = given.get(self.chooses, "")
        if choice not in self.choices:
            raise PageError(400, "The form is incomplete. Open its page again.")
        return choice, self.choices[choice].form.sent(given)

    async def _show(
        self, request: web.Request, visitor: SignedIn, choice: str, form: Form, status: int = 200
    ) -> web.StreamResponse:
        plan = await self._billing.plan(visitor)
        refusal = await self._billing.refusal(visitor, self.choices[choice].rank_min)
        values = {"page": self, "chosen": choice, "form": form, "plan": plan, "refusal": refusal}
        return render(request, "form.html", visitor, status, **values)
