"""Finding where an answer differs from the expected one. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from tests.assurance.truth.exact import Near, Within

_MISSING = "(absent)"
_SHOWN_MAX = 160


@dataclass(frozen=True)
class Question:
    """One thing that was compared: how it was asked, the API's answer and the expected one.

    `weight` is how many things it stands for: rows that were found equal before are not compared again one by one.
    """

    text: str
    ours: Any
    theirs: Any
    weight: int = 1


@dataclass(frozen=True)
class OneOf:
    """Several answers of which each is right."""

    answers: Sequence[Any]


@dataclass(frozen=True)
class Difference:
    """One place of an answer that differs."""

    question: str
    place: str
    ours: str
    theirs: str


@dataclass
class Verdict:
    """What came of one endpoint: how many questions were compared, how many differ, and the first differences.

    `unjudged` names members of answers that nothing is computed for: additions that the judge does not know yet.
    """

    endpoint: str
    compared: int = 0
    different: int = 0
    differences: list[Difference] = field(default_factory=list)
    unjudged: set[str] = field(default_factory=set)

    def add(self, question: Question, kept_max: int = 5) -> None:
        """Compare one question; keep at most `kept_max` differences of it, and of the endpoint four times as many."""
        self.compared += question.weight
        found = list(differences(question))
        self.unjudged |= set(_beyond("", question.ours, question.theirs))
        self.different += bool(found)
        self.differences += found[:kept_max][: max(0, 4 * kept_max - len(self.differences))]


def differences(question: Question) -> Iterator[Difference]:
    """Yield each place where the answer is not the expected one."""
    for place, ours, theirs in _walk("", question.ours, question.theirs):
        yield Difference(question.text, place or "(all)", _text(ours), _text(theirs))


def _walk(place: str, ours: Any, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name, expected in theirs.items():
            yield from _walk(f"{place}.{name}", ours.get(name, _MISSING), expected)
    elif isinstance(theirs, list | tuple) and isinstance(ours, list | tuple):
        if len(ours) != len(theirs):
            yield f"{place}(length)", len(ours), len(theirs)
        for n, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            yield from _walk(f"{place}[{n}]", one, other)
    elif isinstance(theirs, frozenset | set):
        if ours not in theirs:
            yield place, ours, theirs
    elif isinstance(theirs, OneOf):
        if not any(_same(ours, answer) for answer in theirs.answers):
            yield place, ours, theirs.answers
    elif not _equal(ours, theirs):
        yield place, ours, theirs


def _beyond(place: str, ours: Any, theirs: Any) -> Iterator[str]:
    """Yield the members of an answer that nothing is expected of."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        yield from (f"{place}.{name}" for name in ours.keys() - theirs.keys())
        for name in ours.keys() & theirs.keys():
            yield from _beyond(f"{place}.{name}", ours[name], theirs[name])
    elif isinstance(theirs, list | tuple) and isinstance(ours, list | tuple):
        for one, other in zip(ours, theirs, strict=False):
            yield from _beyond(f"{place}[]", one, other)


def _same(ours: Any, theirs: Any) -> bool:
    return next(_walk("", ours, theirs), None) is None


def _equal(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, Near | Within):
        shown = _number(ours)
        return shown is not None and theirs.allows(shown)
    if isinstance(theirs, Decimal | Fraction) or (isinstance(theirs, int) and not isinstance(theirs, bool)):
        return _number(ours) == Fraction(theirs)
    if isinstance(theirs, date):
        return str(ours) == theirs.isoformat()
    return bool(ours == theirs)


def _number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return Fraction(Decimal(str(value)))
    except (InvalidOperation, ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    if isinstance(value, Near | Within):
        value = value.exact
    if isinstance(value, Fraction):
        value = Decimal(value.numerator) / Decimal(value.denominator)
    text = str(value)
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "…"
