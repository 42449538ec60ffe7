"""The form of a new watch: the fields of the chosen condition, and the watch that a filled-in form describes."""

import re
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError

from edge.dashboard.form_faults import FormFaults
from edge.dashboard.report_form import Control
from edge.watches.schemas import MEMBERS, NewWatch
from shared.watches import ABSENT_DAYS_DEFAULT, CONDITIONS, NEW_LOW_DAYS, TARGETS, Condition

TITLES: dict[Condition, str] = {
    "below": "Below an amount",
    "new-low": "A new low",
    "returned": "Offered again",
    "index-moved": "Prices moved",
}


@dataclass(frozen=True, slots=True)
class WatchField:
    """A field of the form with the sentence under it; `choices` are values with their texts, for a choice alone."""

    name: str
    label: str
    sentence: str
    control: Control = "text"
    choices: tuple[tuple[str, str], ...] = ()
    completes: str | None = None


_CODE = WatchField(
    "code", "Which one", "IID of an article, slug of a brand, or code of a category.", completes="watched"
)
_MEASURES = {
    "amount": WatchField("amount", "Amount", "As in `12.50`."),
    "currency": WatchField("currency", "Currency", "Three letters, as in `HKD`."),
    "percent": WatchField("percent", "Per cent", "By how much prices must change from one month to the next."),
}
_KIND = WatchField("kind", "Prices of", "", "choice", (("listing", "listings"), ("sale", "sales")))
_LABEL = WatchField("label", "Your name for it", "It is in each event. May be empty.")


def condition_of(text: str) -> Condition:
    """Return the condition that an address names, the first one for any other text."""
    return next((name for name in CONDITIONS if name == text), "below")


def fields_of(condition: Condition) -> tuple[WatchField, ...]:
    """Return the fields of a condition's form."""
    needed, optional = MEMBERS[condition]
    measures = tuple(_measure(name, condition) for name in (*needed, *optional))
    return (_target(condition), _CODE, *measures, _KIND, _LABEL)


def read_form(form: dict[str, str]) -> dict[str, Any]:
    """Return the watch that a filled-in form orders. Raises FormFaults with a sentence for each field."""
    condition = condition_of(form.get("condition", ""))
    given: dict[str, Any] = {"condition": condition}
    for field in fields_of(condition):
        text = form.get(field.name, "").strip()
        if text:
            given[field.name] = _number(text) if field.name in ("days", "percent") else text
    try:
        loaded: dict[str, Any] = NewWatch().load(given)
    except ValidationError as error:
        raise FormFaults.of(error, {}) from None
    return loaded


def _number(text: str) -> float | str:
    """Return the number that a text is; other text as it is, so that the schema refuses it with its sentence."""
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text, re.ASCII) else text


def _target(condition: Condition) -> WatchField:
    # One article has no index.
    offered = [target for target in TARGETS if condition != "index-moved" or target != "article"]
    sentence = "Of a brand or a category each article is reported." if condition != "index-moved" else ""
    return WatchField("target", "What is watched", sentence, "choice", tuple((name, name) for name in offered))


def _measure(name: str, condition: Condition) -> WatchField:
    if name != "days":
        return _MEASURES[name]
    if condition == "new-low":
        choices = tuple((str(days), f"{days} days") for days in NEW_LOW_DAYS)
        return WatchField("days", "Lowest of", "", "choice", choices)
    sentence = f"How long it was not observed, in days; {ABSENT_DAYS_DEFAULT} if empty."
    return WatchField("days", "Absence", sentence, "number")
