"""The six questions that people ask, each a preset over the declaration of a report."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

from edge.dashboard.dates import iso_day, range_text
from shared.jobs.contract import BRAND_INSIGHTS, COHORTS, PRICE_INDEX, PRICE_POSITION, REDUCTIONS, SUSTAINABILITY_ROLLUP

Kind = Literal["brand", "category"]
SUBJECTS_MAX = 8
ALL, OWN = "all", "own"
_SPANS = {"7": "Last 7 days", "30": "Last 30 days", "365": "Last 12 months", "1825": "Last 5 years"}
# Years of data are hardly asked about by the week; prices of months have none in most weeks.
_SPANS_SHORTER_MAX = 60
# A picture of more periods than this has no room for their names.
_PERIODS_MAX = 60
_LENGTHS = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}


class ComparedBy(NamedTuple):
    """One way to compare: its name in an address, its words, the parameters of the report that it sets."""

    name: str
    words: str
    parameters: Mapping[str, str]


class Subject(NamedTuple):
    """A brand or category that is asked about, by its slug or code, with its name and number of items."""

    kind: Kind
    code: str
    name: str
    items: int
    first: date | None = None
    last: date | None = None

    @property
    def key(self) -> str:
        """Its name in an address."""
        return f"{self.kind}:{self.code}"


class QuestionPreset(NamedTuple):
    """A question: its name in addresses, its words, what it answers, the report that answers it, and with what.

    `kinds` are what it can be asked of, and `several` whether of more than one. `lengths` are the lengths of period
    that the report offers; without any, the whole range is one. With `example_widest` its example is what has most
    items: shops, announced reductions and footprints are not in every source.
    """

    name: str
    title: str
    answers: str
    report: str
    comparisons: tuple[ComparedBy, ...] = ()
    kinds: tuple[Kind, ...] = ("brand", "category")
    several: bool = True
    lengths: tuple[str, ...] = ()
    fixed: Mapping[str, str] = {}
    example_widest: bool = False

    def example(self, subjects: Iterable[Subject]) -> Subject | None:
        """Return the one of these that shows best what the question answers; None if it can be asked of none."""
        fitting = [one for one in subjects if one.kind in self.kinds]
        return max(fitting, key=lambda one: one.items if self.example_widest else 0, default=None)


_TIME = ComparedBy("time", "time", {})
_BRAND = ComparedBy("brand", "brand", {"group_by": "brand"})
_CATEGORY = ComparedBy("category", "category", {"group_by": "category"})
_SHOP = ComparedBy("shop", "shop", {"group_by": "channel"})

PRESETS = (
    QuestionPreset(
        "cost",
        "What does it cost?",
        "The middle price, and what most prices lie between.",
        COHORTS.name,
        (_TIME, _SHOP, _BRAND, _CATEGORY),
        lengths=("day", "week", "month"),
    ),
    QuestionPreset(
        "change",
        "Did prices change?",
        "How the prices of the same items moved, with the interval of the answer.",
        PRICE_INDEX.name,
        lengths=("day", "week", "month", "quarter", "year"),
    ),
    QuestionPreset(
        "cheaper",
        "Who is cheaper?",
        "The prices of each shop beside those of the others, for the items that both have.",
        PRICE_POSITION.name,
        lengths=("month", "quarter", "year"),
        example_widest=True,
    ),
    QuestionPreset(
        "brand",
        "How does this brand stand?",
        "Its rank, its prices beside its categories, and its rivals.",
        BRAND_INSIGHTS.name,
        kinds=("brand",),
        several=False,
    ),
    QuestionPreset(
        "genuine",
        "Are the discounts genuine?",
        "How many announced reductions hold against the price of the 30 days before.",
        REDUCTIONS.name,
        example_widest=True,
    ),
    QuestionPreset(
        "footprint",
        "What is the footprint?",
        "Greenhouse gases, water and waste of the items, with what they rest on.",
        SUSTAINABILITY_ROLLUP.name,
        (_TIME, _BRAND, _CATEGORY),
        lengths=("month",),
        example_widest=True,
    ),
)
PRESETS_BY_NAME = {preset.name: preset for preset in PRESETS}


class ChosenDays(NamedTuple):
    """A choice of days: its name in an address, its words, the days themselves."""

    name: str
    words: str
    first: date
    last: date

    @property
    def days(self) -> str:
        """The days in words."""
        return range_text(self.first, self.last)


class AskedQuestion(NamedTuple):
    """A question as its address asks it; of an example, it is asked of what a person names instead."""

    preset: QuestionPreset
    subjects: tuple[Subject, ...]
    when: str
    by: str
    first: str = ""
    last: str = ""
    is_example: bool = False

    @property
    def is_of_both(self) -> bool:
        """Whether only items count that are of one of its brands and in one of its categories."""
        return len({one.kind for one in self.subjects}) > 1

    @property
    def is_complete(self) -> bool:
        """Whether it says enough to be answered."""
        return bool(self.subjects)

    @property
    def spans(self) -> list[ChosenDays]:
        """The choices of days that hold data: all of it, and those shorter than that."""
        first = min((one.first for one in self.subjects if one.first), default=None)
        last = max((one.last for one in self.subjects if one.last), default=None)
        if first is None or last is None:
            return []
        whole = (last - first).days + 1
        shorter = [
            ChosenDays(name, words, last - timedelta(days=int(name) - 1), last)
            for name, words in _SPANS.items()
            if whole / _SPANS_SHORTER_MAX <= int(name) < whole
        ]
        return [ChosenDays(ALL, "All data", first, last), *shorter]

    @property
    def span(self) -> ChosenDays | None:
        """The days that are chosen; None without data, or where a person's own ones are not both days."""
        if self.when == OWN:
            first, last = iso_day(self.first), iso_day(self.last)
            return ChosenDays(OWN, "Own days", first, last) if first and last and first <= last else None
        return next((span for span in self.spans if span.name == self.when), next(iter(self.spans), None))

    @property
    def comparison(self) -> ComparedBy | None:
        """What is compared; None where the question offers no choice."""
        offered = self.preset.comparisons
        return next((one for one in offered if one.name == self.by), next(iter(offered), None))

    def parameters(self) -> dict[str, str | list[str]]:
        """Return the parameters of the report, by the names of its form."""
        asked: dict[str, str | list[str]] = dict(self.preset.fixed)
        for kind in self.preset.kinds:
            codes = [one.code for one in self.subjects if one.kind == kind]
            if codes:
                asked["slug" if not self.preset.several else kind] = codes[0] if not self.preset.several else codes
        if self.comparison:
            asked |= self.comparison.parameters
        span = self.span
        if span is not None:
            asked |= {"from": span.first.isoformat(), "to": span.last.isoformat()}
            if self.preset.lengths:
                asked["granularity"] = self._length(span)
        return asked

    def _length(self, span: ChosenDays) -> str:
        """Return the shortest length of period of which the days are not too many to be seen."""
        days = (span.last - span.first).days + 1
        fitting = (one for one in self.preset.lengths if days / _LENGTHS[one] <= _PERIODS_MAX)
        return next(fitting, self.preset.lengths[-1])

    def address(self, **others: Any) -> str:
        """Return the query of the address that asks the same but for these parameters."""
        own = {"from": self.first, "to": self.last} if self.when == OWN else {}
        given = {
            "question": self.preset.name,
            "what": [one.key for one in self.subjects],
            "when": self.when,
            "by": self.by,
            **own,
            **others,
        }
        return urlencode({name: value for name, value in given.items() if value}, doseq=True)

    def words(self) -> str:
        """Return the question in words: `Did prices change? Vitasoy, 15 to 24 Jul 2026`."""
        span = self.span
        parts = [" and ".join(one.name for one in self.subjects), span.days if span else ""]
        return f"{self.preset.title} {', '.join(part for part in parts if part)}".strip()


def keys_in_address(texts: Iterable[str], preset: QuestionPreset) -> list[tuple[Kind, str]]:
    """Return the subjects that an address names, each once; those that the question cannot be asked of are left out."""
    found: dict[tuple[Kind, str], None] = {}
    for text in texts:
        kind, _, code = text.partition(":")
        known = next((one for one in preset.kinds if one == kind), None)
        if known and code and "\0" not in code:
            found[known, code[:400]] = None
    return list(found)[: SUBJECTS_MAX if preset.several else 1]


def preset_of(kind: str, parameters: Mapping[str, Any]) -> QuestionPreset | None:
    """Return the question that a finished report answers; None for one that no question asks."""
    preset = next((preset for preset in PRESETS if preset.report == kind), None)
    grouped = list(parameters.get("group_by") or [])
    offered = [list(one.parameters.values()) for one in preset.comparisons] if preset else []
    return preset if not grouped or grouped in offered else None


def subject_of(parameters: Mapping[str, Any]) -> tuple[Kind, str] | None:
    """Return the one brand or category that a finished report is of; None where it is of several or of none."""
    kinds: tuple[Kind, ...] = ("brand", "category")
    named = [(kind, str(code)) for kind in kinds for code in parameters.get(kind) or []]
    return named[0] if len(named) == 1 else None


def address_of(kind: str, parameters: Mapping[str, Any]) -> str | None:
    """Return the query of the address that asks what a finished report answers; None where no question does."""
    preset = preset_of(kind, parameters)
    if preset is None:
        return None
    slug = [f"brand:{parameters['slug']}"] if parameters.get("slug") else []
    what = [*slug, *(f"{one}:{code}" for one in ("brand", "category") for code in parameters.get(one) or [])]
    if not what:
        return None
    grouped: Sequence[str] = parameters.get("group_by") or []
    by = next((one.name for one in preset.comparisons if list(one.parameters.values()) == list(grouped)), "")
    days = {name: parameters.get(name) for name in ("from", "to")}
    own = {"when": OWN, **days} if all(days.values()) else {}
    return urlencode({"question": preset.name, "what": what, **({"by": by} if by else {}), **own}, doseq=True)
