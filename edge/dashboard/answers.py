"""What a report found, in one sentence with its figure; where it found nothing, why, and what to change. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from edge.dashboard.charts import number
from edge.dashboard.tables import BY_CODE, Reading, figure, group_name, named
from shared.jobs.contract import BRAND_INSIGHTS, CATEGORY_INSIGHTS, COHORTS, PRICE_INDEX, REDUCTIONS

_MEDIANS = {COHORTS.name: "p50", CATEGORY_INSIGHTS.name: "median", BRAND_INSIGHTS.name: "median"}
_SUBJECTS = ("slug", "code", "brand", "category")
_SMALLEST = 0.0005
Rows = Sequence[Mapping[str, Any]]


class Answer(NamedTuple):
    """The figure, its sentence, and what to change for a better answer, with the form that is filled in so."""

    figure: str
    sentence: str
    advice: str = ""
    link: str = ""


def answer_of(kind: str, parameters: Mapping[str, Any], rows: Rows, reading: Reading) -> Answer:
    """Return the answer of a report's rows."""
    if not rows:
        return _nothing(kind, parameters, reading)
    if kind in _MEDIANS:
        return _prices(parameters, rows, reading, _MEDIANS[kind])
    if kind == PRICE_INDEX.name:
        return _index(parameters, rows, reading)
    return _reductions(rows, reading) if kind == REDUCTIONS.name else _footprint(rows, reading)


def _nothing(kind: str, parameters: Mapping[str, Any], reading: Reading) -> Answer:
    if kind == REDUCTIONS.name:
        sentence = f"No announced reductions: no listing fell below a list price{_during(reading)}."
        advice = "A reduction needs listings with a list price. Choose other channels or categories, or an earlier first day."
        return Answer("0", sentence, advice, _form(kind, parameters))
    if reading.periods.first is None:
        asked = [str(parameters[end]) for end in ("from", "to") if parameters.get(end)]
        range_ = f" from {' to '.join(asked)}" if asked else ""
        advice = "Leave both days empty to get the last 90 days with data, or choose other filters."
        kept = {name: value for name, value in parameters.items() if name not in ("from", "to")}
        return Answer("0", f"No price was observed{range_} with these filters.", advice, _form(kind, kept))
    return Answer(
        "0", f"No data matches these filters{_during(reading)}.", "Choose fewer filters.", _form(kind, parameters)
    )


def _prices(parameters: Mapping[str, Any], rows: Rows, reading: Reading, name: str) -> Answer:
    """Return the change of the median of one group, else the range of the medians of several in the newest period."""
    newest = [row for row in rows if row["period"] == rows[-1]["period"] and row.get(name) is not None]
    when = f" ({reading.periods.text(rows[-1]['period'])})"
    if not newest:
        return Answer("0", f"No price was observed{_during(reading)}.")
    if len(newest) > 1:
        low, high = (found(newest, key=lambda row: number(row[name]) or 0.0) for found in (min, max))
        currencies = sorted({str(row["currency"]) for row in newest})
        if len(currencies) > 1:
            return Answer(str(len(newest)), f"groups have prices, in {' and '.join(currencies)}{when}.")
        sentence = (
            f"are the lowest and the highest median price, of {_of(low, reading)} and {_of(high, reading)}{when}."
        )
        return Answer(f"{currencies[0]} {low[name]} and {high[name]}", sentence)
    row, money = newest[0], str(newest[0]["currency"])
    before = [one for one in rows if one["period"] < row["period"] and one.get(name) is not None and _same(one, row)]
    subject = _subject(parameters, row, reading)
    change = number(row.get("median_change"))
    if change is None and before and (last := number(before[-1][name])):
        change = (number(row[name]) or 0.0) / last - 1
    if change is None:
        seen = f"from {row['observations']:,} observations of {_counted(row['items'], 'item')}"
        return Answer(f"{money} {row[name]}", f"is {subject} median price, {seen}{when}.")
    against = (
        f"the {reading.periods.granularity} before" if reading.periods.granularity else "the same number of days before"
    )
    partial = ", which has no data for all of its days yet" if reading.periods.is_partial(row["period"]) else ""
    if abs(change) < _SMALLEST:
        return Answer(
            "0.0 %",
            f"change in {subject} median price against {against}: it is still {money} {row[name]}{when}{partial}.",
        )
    moved = f"{subject} median price {'rose' if change > 0 else 'fell'} {abs(100 * change):.1f} % against {against}"
    return Answer(
        f"{100 * change:+.1f} %".replace("-", "−"),
        f"{moved[0].upper()}{moved[1:]}, to {money} {row[name]}{when}{partial}.",
    )


def _index(parameters: Mapping[str, Any], rows: Rows, reading: Reading) -> Answer:
    last = rows[-1]
    indexed = [row for row in rows if _same(row, last) and row["index"] is not None]
    if len(indexed) < 2:
        finer = reading.periods.finer()
        advice = f"Choose periods of a {finer}" if finer else "Choose an earlier first day"
        form = _form(PRICE_INDEX.name, {**parameters, **({"granularity": finer} if finer else {})})
        only = f"There is one {reading.periods.unit} with data ({reading.periods.text(last['period'])}), so prices have nothing to be compared with"
        return Answer("100", f"{only}: the first period is always 100.", f"{advice} to see a change.", form)
    first, newest = indexed[0], indexed[-1]
    change = newest["index"] - 100
    bounds = (
        f" (95 % interval {newest['low'] - 100:+.1f} % to {newest['high'] - 100:+.1f} %)"
        if newest["low"] is not None
        else ""
    )
    moved = (
        "did not change" if abs(change) < 100 * _SMALLEST else f"{'rose' if change > 0 else 'fell'} {abs(change):.1f} %"
    )
    ends = f"between {reading.periods.text(first['period'])} and {reading.periods.text(newest['period'])}"
    return Answer(
        f"{change:+.1f} %".replace("-", "−"), f"Prices of the same items {moved} {ends}{bounds.replace('-', '−')}."
    )


def _reductions(rows: Rows, reading: Reading) -> Answer:
    announced, undecided, holding = (sum(row[name] for row in rows) for name in ("announced", "undecided", "holding"))
    judged = announced - undecided
    if not judged:
        sentence = f"None of {_counted(announced, 'announced reduction')} can be judged{_during(reading)}: 30 observed days before each are needed."
        return Answer("0", sentence)
    share = f"{holding:,} of {_counted(judged, 'reduction')} that can be judged hold against the prior price"
    return Answer(f"{100 * holding / judged:.1f} %", f"{share}{_during(reading)}; {undecided:,} cannot be judged.")


def _footprint(rows: Rows, reading: Reading) -> Answer:
    newest = [row for row in rows if row["period"] == rows[-1]["period"]]
    when = f" ({reading.periods.text(rows[-1]['period'])})"
    known = [row for row in newest if row["co2e_kg_central"] is not None]
    if not known:
        items = sum(row["items"] for row in newest)
        advice = "Choose other brands or categories, or load footprint figures for them."
        return Answer("0", f"None of {_counted(items, 'item')} has a footprint figure{when}.", advice)
    row = max(known, key=lambda one: one["co2e_kg_central"])
    low, central, high = (figure(round(row[f"co2e_kg_{bound}"])) for bound in ("low", "central", "high"))
    basis = "units sold" if row["basis"] == "sales" else "one of each item"
    of = f" of {_of(row, reading)}, the largest of {len(newest)} groups," if len(newest) > 1 else ""
    sentence = f"is the footprint{of} of {basis}{when}: with 95 % probability between {low} and {high}."
    covered = f" {100 * row['items_covered']:.0f} % of {_counted(row['items'], 'item')} have a figure."
    return Answer(f"{central} {BY_CODE['co2e_kg'].unit}", sentence + covered)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    names = ("brand", "category", "channel", "currency", "original_currency")
    return all(one.get(name) == other.get(name) for name in names)


def _of(row: Mapping[str, Any], reading: Reading) -> str:
    return group_name(row, reading.names) or "all"


def _subject(parameters: Mapping[str, Any], row: Mapping[str, Any], reading: Reading) -> str:
    """Return whose price it is, as a possessive."""
    own = group_name(row, reading.names)
    asked = [one for name in _SUBJECTS for one in _list(name, parameters, reading)]
    subject = own or (asked[0] if len(asked) == 1 else "")
    return f"{subject}{'’' if subject.endswith('s') else '’s'}" if subject else "the"


def _list(name: str, parameters: Mapping[str, Any], reading: Reading) -> list[str]:
    value = parameters.get(name) or []
    return [named(reading.names, name, one) for one in (value if isinstance(value, list) else [value])]


def _during(reading: Reading) -> str:
    return f" in {reading.periods.span}" if reading.periods.span else ""


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _form(kind: str, parameters: Mapping[str, Any]) -> str:
    """Return the address of the report's form with these parameters filled in."""
    given = {
        "observed" if name == "kind" else name: ",".join(value) if isinstance(value, list) else value
        for name, value in parameters.items()
        if value not in (None, [], "") and name not in ("after", "limit", "sort")
    }
    return f"/dashboard/reports?{urlencode({'kind': kind, **given})}"
