"""What a report found, in one sentence with its figure; where it found nothing, why, and what to change. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

from edge.dashboard.tables import BY_CODE, Reading, amount, differing, each_called, estimate, group_name, number
from shared.jobs.contract import (
    BRAND_INSIGHTS,
    CATEGORY_INSIGHTS,
    COHORTS,
    PRICE_INDEX,
    REDUCTIONS,
    SUSTAINABILITY_ROLLUP,
)

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
    return ANSWERS[kind](parameters, rows, reading)


def _nothing(kind: str, parameters: Mapping[str, Any], reading: Reading) -> Answer:
    if kind == REDUCTIONS.name and reading.periods.first is not None:
        advice = (
            "A listing announces a reduction by a list price above its price. "
            "Choose other channels or categories, or an earlier first day."
        )
        sentence = f"were announced{_during(reading)}: no listing fell below a list price."
        return Answer("0 reductions", sentence, advice, _form(kind, parameters))
    if reading.periods.first is None:
        asked = [str(parameters[end]) for end in ("from", "to") if parameters.get(end)]
        days = f" from {' to '.join(asked)}" if asked else ""
        emptied = "Leave both days empty to get the 90 days up to the last data, or choose" if asked else "Choose"
        advice = f"{emptied} other filters."
        kept = {name: value for name, value in parameters.items() if name not in ("from", "to")}
        return Answer("0 prices", f"were observed{days} with these filters.", advice, _form(kind, kept))
    form = _form(kind, parameters)
    return Answer("0 rows", f"match these filters{_during(reading)}.", "Choose fewer filters.", form)


def _prices(parameters: Mapping[str, Any], rows: Rows, reading: Reading, name: str) -> Answer:
    """Return the change of the median of one group, else the range of the medians of several in the newest period."""
    period = rows[-1]["period"]
    newest = [row for row in rows if row["period"] == period and row.get(name) is not None]
    partial = f", an incomplete {reading.periods.unit}" if reading.periods.is_partial(period) else ""
    when = f"({reading.periods.text(period)}{partial})"
    if not newest:
        return Answer("0 prices", f"were observed {when}.")
    if len(newest) > 1:
        return _range(newest, name, when, reading)
    row, money = newest[0], str(newest[0]["currency"])
    subject, price = _subject(parameters, row, reading), f"{money} {amount(row[name], money)}"
    change, against = number(row.get("median_change")), f"the {reading.periods.unit} before"
    earlier = [one for one in rows if one["period"] < period and one.get(name) is not None and _same(one, row)]
    if change is None and earlier and (last := number(earlier[-1][name])):
        change, against = (number(row[name]) or 0.0) / last - 1, f"the previous {reading.periods.unit} with data"
    if change is None:
        seen = f"from {_counted(row['observations'], 'observation')} of {_counted(row['items'], 'item')}"
        return Answer(price, f"is {subject} median price, {seen} {when}.")
    if abs(change) < _SMALLEST:
        return Answer("0.0 %", f"change in {subject} median price against {against}: it is {price} as before {when}.")
    moved = f"{subject} median price {_moved(100 * change)} against {against}, to {price} {when}."
    if (same := number(row.get("index_change"))) is not None:
        moved += f" Prices of the same items {_moved(100 * same)}."
    return Answer(_signed(100 * change), moved[0].upper() + moved[1:])


def _range(rows: Rows, name: str, when: str, reading: Reading) -> Answer:
    fields = differing(rows)
    field = fields[0] if len(fields) == 1 else "group"
    count = len({tuple(row.get(name) for name in fields) for row in rows})
    groups = f"{count} {'categories' if field == 'category' else f'{field}s'}"
    currencies = sorted({str(row["currency"]) for row in rows})
    if len(currencies) > 1:
        listed = f"{', '.join(currencies[:-1])} and {currencies[-1]}"
        if not fields:
            return Answer(f"{len(currencies)} currencies", f"have prices: {listed} {when}.")
        return Answer(groups, f"have prices, in {listed} {when}.")
    low, high = (found(rows, key=lambda row: number(row[name]) or 0.0) for found in (min, max))
    first, last = (group_name(row, reading.names, fields) for row in (low, high))
    ends = f"from {first} to {last}"
    figures = f"{currencies[0]} {amount(low[name], currencies[0])} to {amount(high[name], currencies[0])}"
    return Answer(figures, f"is the range of the median prices of {groups}, {ends} {when}.")


def _index(parameters: Mapping[str, Any], rows: Rows, reading: Reading) -> Answer:
    last, unit = rows[-1], reading.periods.unit
    alike = [row for row in rows if _same(row, last)]
    indexed = [row for row in alike if row["index"] is not None]
    if len(indexed) < 2:
        finer = reading.periods.finer()
        advice = f"Choose periods of a {finer}" if finer else "Choose an earlier first day"
        form = _form(PRICE_INDEX.name, {**parameters, **({"granularity": finer} if finer else {})})
        if len(alike) > 1:
            ends = f"from {reading.periods.name(alike[0]['period'])} to {reading.periods.name(last['period'])}"
            apart = f"have data, {ends}, but too few items in common to be compared."
            return Answer(f"{len(alike)} {unit}s", apart, "Choose more brands or categories, or other periods.", form)
        only = f"has data ({reading.periods.text(last['period'])}), so there is nothing to compare it with"
        return Answer(f"1 {unit}", f"{only}: the first period is always 100.", f"{advice} to see a change.", form)
    first, newest = indexed[0], indexed[-1]
    change, bounds = newest["index"] - 100, ""
    if newest["low"] is not None:
        bounds = f" (95 % interval {_signed(newest['low'] - 100)} to {_signed(newest['high'] - 100)})"
    ends = f"from {reading.periods.name(first['period'])} to {reading.periods.name(newest['period'])}"
    return Answer(_signed(change), f"Prices of the same items {_moved(change)} {ends}{bounds}.")


def _signed(percent: float) -> str:
    return f"{percent:+.1f} %".replace("-", "−")


def _moved(percent: float) -> str:
    if abs(percent) < 100 * _SMALLEST:
        return "did not change"
    return f"{'rose' if percent > 0 else 'fell'} {abs(percent):.1f} %"


def _reductions(parameters: Mapping[str, Any], rows: Rows, reading: Reading) -> Answer:
    announced, undecided, holding = (sum(row[name] for row in rows) for name in ("announced", "undecided", "holding"))
    judged = announced - undecided
    if not judged:
        advice = "A reduction can be judged where each of the 30 days before it was observed."
        return Answer(f"0 of {announced:,}", f"announced reductions can be judged{_during(reading)}.", advice)
    share = f"of the {_counted(judged, 'reduction')} that can be judged hold against the prior price"
    return Answer(f"{100 * holding / judged:.1f} %", f"{share}{_during(reading)}; {undecided:,} cannot be judged.")


def _footprint(parameters: Mapping[str, Any], rows: Rows, reading: Reading) -> Answer:
    newest = [row for row in rows if row["period"] == rows[-1]["period"]]
    when = f"({reading.periods.text(rows[-1]['period'])})"
    known = [row for row in newest if row["co2e_kg_central"] is not None]
    if not known:
        items = sum(row["items"] for row in newest)
        advice, form = "Choose other brands or categories.", _form(SUSTAINABILITY_ROLLUP.name, parameters)
        return Answer(f"0 of {items:,}", f"items have a footprint figure {when}.", advice, form)
    row = max(known, key=lambda one: one["co2e_kg_central"])
    low, central, high = (estimate(row[f"co2e_kg_{bound}"]) for bound in ("low", "central", "high"))
    whose = group_name(row, reading.names)
    of = f" of {whose}" if whose else ""
    largest = f", the largest of {len(known)} groups that have a figure" if len(known) > 1 else ""
    basis = "all units sold" if row["basis"] == "sales" else "one of each item"
    covered = f"{100 * row['items_covered']:.0f} % of {_counted(row['items'], 'item')} have a figure."
    sentence = f"is the footprint of {basis}{of}{largest} {when}; the 95 % interval is {low} to {high}. {covered}"
    return Answer(f"{central} {BY_CODE['co2e_kg'].unit}", sentence)


ANSWERS: dict[str, Callable[[Mapping[str, Any], Rows, Reading], Answer]] = {
    COHORTS.name: partial(_prices, name="p50"),
    CATEGORY_INSIGHTS.name: partial(_prices, name="median"),
    BRAND_INSIGHTS.name: partial(_prices, name="median"),
    PRICE_INDEX.name: _index,
    REDUCTIONS.name: _reductions,
    SUSTAINABILITY_ROLLUP.name: _footprint,
}
"""What makes the answer of each report that has rows."""


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    names = ("brand", "category", "channel", "currency", "original_currency")
    return all(one.get(name) == other.get(name) for name in names)


def _subject(parameters: Mapping[str, Any], row: Mapping[str, Any], reading: Reading) -> str:
    """Return whose price it is, as a possessive."""
    own = group_name(row, reading.names)
    asked = [one for name in _SUBJECTS for one in each_called(name, parameters.get(name) or [], reading.names)]
    subject = own or (asked[0] if len(asked) == 1 else "")
    return f"{subject}{'’' if subject.endswith('s') else '’s'}" if subject else "the"


def _during(reading: Reading) -> str:
    first, last = reading.periods.first, reading.periods.last
    if first is None or last is None:
        return ""
    return f" on {first}" if first == last else f" from {first} to {last}"


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
