"""What a report found, in one sentence with its figure; where it found nothing, why, and what to change. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from edge.analytics.wording import RowContext, amount, differing, group_name, isolated_names, number, per_unit

SMALLEST_CHANGE = 0.0005
SUBJECTS = ("slug", "code", "brand", "category")
Parameters = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]


class Headline(NamedTuple):
    """The figure, its sentence, what to change for a better answer, and the parameters that ask for that."""

    figure: str
    sentence: str
    advice: str = ""
    retry: Parameters | None = None


Find = Callable[[Parameters, Rows, RowContext], Headline]


def find_nothing(parameters: Parameters, rows: Rows, reading: RowContext) -> Headline:
    """Return why a report has no rows."""
    if reading.periods.first is None:
        asked = [str(parameters[end]) for end in ("from", "to") if parameters.get(end)]
        days = f" from {' to '.join(asked)}" if asked else ""
        emptied = "Leave both days empty to get the 90 days up to the last data, or choose" if asked else "Choose"
        kept = {name: value for name, value in parameters.items() if name not in ("from", "to")}
        return Headline("0 prices", f"were observed{days} with these filters.", f"{emptied} other filters.", kept)
    return Headline("0 rows", f"match these filters{days_clause(reading)}.", "Choose fewer filters.", parameters)


def find_median(name: str) -> Find:
    """Return what finds the change of the median in this column, or the range of several groups' medians."""
    return partial(_median, name=name)


def _median(parameters: Parameters, rows: Rows, reading: RowContext, name: str) -> Headline:
    """Return the change of the median of one group, else the range of the medians of several in the newest period."""
    period = rows[-1]["period"]
    newest = [row for row in rows if row["period"] == period and row.get(name) is not None]
    partial = f", an incomplete {reading.periods.unit}" if reading.periods.is_partial(period) else ""
    when = f"({reading.periods.text(period)}{partial})"
    if not newest:
        return Headline("0 prices", f"were observed {when}.")
    if len(newest) > 1:
        return _range(newest, name, when, reading)
    row, money = newest[0], str(newest[0]["currency"])
    subject, price = _subject(parameters, row, reading), f"{money} {amount(row[name], money)}{per_unit(row)}"
    change, against = number(row.get("median_change")), f"against the {reading.periods.unit} before"
    earlier = [one for one in rows if one["period"] < period and one.get(name) is not None and is_same_series(one, row)]
    # Of several periods the answer is about all of them: two reports of the same days do not contradict each other.
    if earlier and (first := number(earlier[0][name])):
        change, against = (number(row[name]) or 0.0) / first - 1, f"since {reading.periods.name(earlier[0]['period'])}"
    if change is None:
        seen = f"from {count_of(row['observations'], 'observation')} of {count_of(row['items'], 'item')}"
        return Headline(price, f"is {subject} median price, {seen} {when}.")
    if abs(change) < SMALLEST_CHANGE:
        return Headline("0.0 %", f"change in {subject} median price {against}: it is {price} as before {when}.")
    sentence = f"{subject} median price {change_in_words(100 * change)} {against}, to {price} {when}."
    if not earlier and (alike := number(row.get("index_change"))) is not None:
        sentence += f" Prices of the same items {change_in_words(100 * alike)}."
    return Headline(signed_percent(100 * change), sentence[0].upper() + sentence[1:])


def _range(rows: Rows, name: str, when: str, reading: RowContext) -> Headline:
    fields = differing(rows)
    field = fields[0] if len(fields) == 1 else "group"
    count = len({tuple(row.get(name) for name in fields) for row in rows})
    nouns = {"category": "categories", "channel": "shops"}
    groups = f"{count} {nouns.get(field, f'{field}s')}"
    currencies = sorted({str(row["currency"]) for row in rows})
    if len(currencies) > 1:
        listed = f"{', '.join(currencies[:-1])} and {currencies[-1]}"
        if not fields:
            return Headline(f"{len(currencies)} currencies", f"have prices: {listed} {when}.")
        return Headline(groups, f"have prices, in {listed} {when}.")
    low, high = (found(rows, key=lambda row: number(row[name]) or 0.0) for found in (min, max))
    first, last = (group_name(row, reading.names, fields) for row in (low, high))
    ends = f"from {first} to {last}"
    figures = f"{currencies[0]} {amount(low[name], currencies[0])} to {amount(high[name], currencies[0])}"
    figures += per_unit(high)
    return Headline(figures, f"is the range of the median prices of {groups}, {ends} {when}.")


def _subject(parameters: Parameters, row: Mapping[str, Any], reading: RowContext) -> str:
    """Return whose price it is, as a possessive."""
    own = group_name(row, reading.names)
    asked = [one for name in SUBJECTS for one in isolated_names(name, parameters.get(name) or [], reading.names)]
    subject = own or (asked[0] if len(asked) == 1 else "")
    return f"{subject}{'’' if subject.endswith('s') else '’s'}" if subject else "the"


def is_same_series(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two rows are of the same group and currency."""
    names = ("brand", "category", "channel", "currency", "original_currency")
    return all(one.get(name) == other.get(name) for name in names)


def signed_percent(percent: float) -> str:
    """Return a change in percent with its sign."""
    return f"{percent:+.1f} %".replace("-", "−")


def change_in_words(percent: float) -> str:
    """Return a change in percent as a verb."""
    if abs(percent) < 100 * SMALLEST_CHANGE:
        return "did not change"
    return f"{'rose' if percent > 0 else 'fell'} {abs(percent):.1f} %"


def days_clause(reading: RowContext) -> str:
    """Return the days of the data, as the end of a clause; nothing where there are none."""
    first, last = reading.periods.first, reading.periods.last
    if first is None or last is None:
        return ""
    return f" on {first}" if first == last else f" from {first} to {last}"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
