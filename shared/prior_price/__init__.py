"""The prior price of a price reduction (Directive 98/6/EC Art. 6a)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from itertools import groupby

from shared.errors import InvalidFile

WINDOW_DAYS = 30
HISTORY_DAYS = 730
"""How far back prices are read for a reduction: one that began earlier has no known beginning."""

_CENT = Decimal("0.01")
COLUMNS = {
    "day": ("day", "date"),
    "price": ("price",),
    "channel": ("channel",),
    "time": ("time",),
    "status": ("status",),
    "list_price": ("list_price", "regular_price"),
}
"""The columns of a file, each with the names that it may have; day and price are needed."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
# No exponent: 1E-400 is no price, and amounts are shown digit by digit.
_AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{0,18})?\Z|\.[0-9]{1,18}\Z")
_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z")


class Status(StrEnum):
    """The observations of one moment."""

    OFFERED = "offered"
    NOT_OFFERED = "not offered"
    UNOBSERVED = "no observation"


class Reason(StrEnum):
    """Why no reduction may be announced, or why that cannot be known."""

    NO_REDUCTION = "no_reduction"
    NOT_BELOW = "not_below_prior_price"
    MISSING_DAYS = "missing_days"
    FEWER_DAYS = "fewer_than_30_days"
    NEW_ARRIVAL = "new_arrival"
    PROGRESSIVE = "progressive_reduction"


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A price from a time of a day on; `list_price` is what the seller crossed out, None where nothing is known."""

    day: date
    time: str = "00:00"
    price: Decimal | None = None
    status: Status = Status.OFFERED
    list_price: Decimal | None = None

    @property
    def announced(self) -> bool:
        """Whether the seller showed a higher price beside this one."""
        return self.list_price is not None and self.price is not None and self.list_price > self.price


@dataclass(frozen=True, slots=True)
class Options:
    """The choices that the law leaves to a Member State. `progressive` None: not stated.

    `progressive`: Art. 6a(5) applies, for reductions whose steps begin within `progressive_days` of the first one.
    `new_arrivals`: Art. 6a(4) applies, so the lowest price since `first_offered` counts where that is under 30 days.
    Raises ValueError for days of a rule that does not apply.
    """

    progressive: bool | None = None
    progressive_days: int | None = None
    new_arrivals: bool = False
    first_offered: date | None = None
    window_days: int = WINDOW_DAYS

    def __post_init__(self) -> None:
        if self.progressive_days is not None and not self.progressive:
            raise ValueError("progressive_days needs progressive: it limits a rule that does not apply otherwise")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The lowest price of one day of the window."""

    day: date
    price: Decimal


@dataclass(frozen=True, slots=True)
class Reference:
    """The running reduction of one channel. `percent` is rounded half up to two decimals, None where there is none.

    `applicable` holds if the prior price is known and the new price is below it; else `reason` says why not. Where the
    window is not known completely, `prior_price` is None and `at_most` is the lowest price that was seen in it.
    `price` is that of the day asked about: None where the day was not observed.
    """

    price: Decimal | None
    reduction_began_on: date | None
    reduction_began_at: str | None
    prior_price: Decimal | None
    percent: Decimal | None
    applicable: bool
    reason: Reason | None
    at_most: Decimal | None
    lowest_on: tuple[date, ...]
    evidence: tuple[Evidence, ...]

    @property
    def known(self) -> bool:
        """Whether the observations suffice to judge the reduction."""
        return self.applicable or self.reason in (Reason.NO_REDUCTION, Reason.NOT_BELOW)


@dataclass(frozen=True, slots=True)
class _Level:
    """Consecutive moments of one price; `announced` is the start of the announcement that runs at its end."""

    begins: Moment
    announced: Moment | None


@dataclass(frozen=True, slots=True)
class _Window:
    evidence: tuple[Evidence, ...]
    fault: Reason | None


def reference(moments: Iterable[Moment], as_of: date | None = None, options: Options | None = None) -> Reference:
    """Return the reduction that runs on a day, by default the last observed one, from one channel's prices.

    Moments of one day and time keep their order. A day without a moment counts as not observed. With list prices, only
    announced reductions count. Raises ValueError for an offered moment that has no price.
    """
    options = options or Options()
    known = _observed_moments(moments, as_of)
    if not known or (as_of is not None and known[-1].day != as_of):
        return _without(None, Reason.MISSING_DAYS)
    steps = _steps(known)
    if not steps:
        return _without(known[-1].price, _why_none_runs(known, options))
    began, earlier = steps[0], steps[1:]
    window = _window(known, began, options)
    if earlier and options.progressive is None and _inside(earlier[0], window):
        return _judge(known[-1], began, replace(window, fault=window.fault or Reason.PROGRESSIVE))
    first = _first_step(began, earlier, options)
    if first is not began:
        gap = _gap(known, first.day, began.day)
        began, window = first, _window(known, first, options)
        window = replace(window, fault=window.fault or gap)
    return _judge(known[-1], began, window)


def _observed_moments(moments: Iterable[Moment], as_of: date | None) -> list[Moment]:
    """Return what was observed up to the day asked about, in order."""
    chosen = [
        moment for moment in moments if moment.status != Status.UNOBSERVED and (as_of is None or moment.day <= as_of)
    ]
    if any(moment.status == Status.OFFERED and moment.price is None for moment in chosen):
        raise ValueError("an offered moment has no price")
    return sorted(chosen, key=lambda moment: (moment.day, moment.time))


def _steps(known: Sequence[Moment]) -> list[Moment]:
    """Return the starts of the running reduction's steps, the newest first; none where none is known to run."""
    offered = _moments_on_offer(known)
    if not offered:
        return []
    announces = _announces(offered)
    levels = _levels(offered)
    steps: list[Moment] = []
    for position in range(len(levels) - 1, -1, -1):
        level = levels[position]
        fell = position > 0 and _price(levels[position - 1].begins) > _price(level.begins)
        if announces:
            if level.announced is None:
                break
            steps.append(level.announced)
            if level.announced is not level.begins or not fell:
                break
        elif fell:
            steps.append(level.begins)
        else:
            break
    return steps


def _moments_on_offer(known: Sequence[Moment]) -> list[Moment]:
    """Return the moments on offer; none where the last one is not."""
    if known[-1].status == Status.NOT_OFFERED:
        return []
    return [moment for moment in known if moment.status == Status.OFFERED]


def _announces(offered: Sequence[Moment]) -> bool:
    """Return whether the seller shows list prices: a reduction of such a seller is a price below its list price."""
    return any(moment.list_price is not None for moment in offered)


def _why_none_runs(known: Sequence[Moment], options: Options) -> Reason:
    """Return NO_REDUCTION where it is known that none runs, else what was not observed.

    Without list prices the price may have fallen on a day that was not observed. That none runs is known where each
    day since a rise was observed, or each of the window's.
    """
    offered = _moments_on_offer(known)
    if not offered or _announces(offered):
        return Reason.NO_REDUCTION
    price, first = offered[-1].price, known[0].day
    lowest = {day: _lowest(day, group) for day, group in groupby(known, key=lambda moment: moment.day)}
    others = {moment.day for moment in offered if moment.price != price}
    day, left = offered[-1].day, options.window_days
    while left and day not in others:
        if day == date.min:
            return Reason.FEWER_DAYS
        day -= timedelta(days=1)
        if options.first_offered is not None and day < options.first_offered:
            break
        if day not in lowest:
            return Reason.FEWER_DAYS if day < first else Reason.MISSING_DAYS
        left -= lowest[day] is not None
    return Reason.NO_REDUCTION


def _levels(offered: Sequence[Moment]) -> list[_Level]:
    levels = []
    for _, group in groupby(offered, key=lambda moment: moment.price):
        same = list(group)
        announced = None
        for moment in reversed(same):
            if not moment.announced:
                break
            announced = moment
        levels.append(_Level(same[0], announced))
    return levels


def _first_step(began: Moment, earlier: Sequence[Moment], options: Options) -> Moment:
    """Return the step before which the price counts: the first one where Art. 6a(5) applies."""
    if not options.progressive or not earlier:
        return began
    first = earlier[-1]
    cap = options.progressive_days
    return began if cap is not None and (began.day - first.day).days > cap else first


def _gap(known: Sequence[Moment], first: date, last: date) -> Reason | None:
    """Return a reason where a day between two steps was not observed: the reduction may have been interrupted."""
    days = {moment.day for moment in known if first <= moment.day <= last}
    return None if len(days) == (last - first).days + 1 else Reason.MISSING_DAYS


def _inside(step: Moment, window: _Window) -> bool:
    return bool(window.evidence) and step.day >= window.evidence[0].day


def _window(known: Sequence[Moment], began: Moment, options: Options) -> _Window:
    """Return the days before a reduction: as many on offer as asked for, and the hours of its own day before it."""
    before = [moment for moment in known if (moment.day, moment.time) < (began.day, began.time)]
    by_day = {day: list(group) for day, group in groupby(before, key=lambda moment: moment.day)}
    start = options.first_offered
    day, left, fault = began.day, options.window_days, None
    lowest = [_lowest(day, by_day.get(day, ()))]
    while left and by_day:
        if day == date.min:
            fault = Reason.FEWER_DAYS
            break
        day -= timedelta(days=1)
        if start is not None and day < start:
            fault = fault or (None if options.new_arrivals and lowest != [None] else Reason.NEW_ARRIVAL)
            break
        if day < before[0].day:
            fault = Reason.FEWER_DAYS
            break
        here = by_day.get(day)
        if here is None:
            fault, left = Reason.MISSING_DAYS, left - 1
            continue
        of_day = _lowest(day, here)
        lowest.append(of_day)
        left -= of_day is not None
    else:
        fault = fault if by_day else Reason.FEWER_DAYS
    return _Window(tuple(evidence for evidence in reversed(lowest) if evidence is not None), fault)


def _lowest(day: date, moments: Iterable[Moment]) -> Evidence | None:
    """Return the lowest price of a day on offer; None where the item was not on offer."""
    prices = [moment.price for moment in moments if moment.price is not None and moment.status == Status.OFFERED]
    return Evidence(day, min(prices)) if prices else None


def _judge(now: Moment, began: Moment, window: _Window) -> Reference:
    price = _price(now)
    lowest = min((day.price for day in window.evidence), default=None)
    on = tuple(day.day for day in window.evidence if day.price == lowest)
    known = window.fault in (None, Reason.PROGRESSIVE)
    prior = lowest if known else None
    reason = window.fault or (Reason.NOT_BELOW if prior is not None and price >= prior else None)
    return Reference(
        price,
        began.day,
        began.time,
        prior,
        percent(prior, price) if prior is not None and price < prior else None,
        reason is None,
        reason,
        None if known else lowest,
        on,
        window.evidence,
    )


def percent(prior: Decimal, price: Decimal) -> Decimal:
    """Return the reduction from a prior price to a lower one in percent, half up to two decimals."""
    return ((prior - price) / prior * 100).quantize(_CENT, ROUND_HALF_UP)


def _price(moment: Moment) -> Decimal:
    if moment.price is None:
        raise ValueError("an offered moment has no price")
    return moment.price


def _without(price: Decimal | None, reason: Reason) -> Reference:
    return Reference(price, None, None, None, None, False, reason, None, (), ())


def as_fields(judged: Reference, money: Callable[[Decimal], str] = str) -> dict[str, object]:
    """Return the fields in their order: amounts and the percentage as decimal text, days as dates."""

    def amount(value: Decimal | None) -> str | None:
        return None if value is None else money(value)

    return {
        "price": amount(judged.price),
        "reduction_began_on": judged.reduction_began_on,
        "reduction_began_at": judged.reduction_began_at,
        "prior_price": amount(judged.prior_price),
        "percent": None if judged.percent is None else str(judged.percent),
        "applicable": judged.applicable,
        "reason": judged.reason.value if judged.reason else None,
        "known": judged.known,
        "at_most": amount(judged.at_most),
        "lowest_on": list(judged.lowest_on),
        "evidence": [{"day": day.day, "price": money(day.price)} for day in judged.evidence],
    }


Channels = dict[str, list[Moment]]


def channels_of(columns: Mapping[str, Sequence[str]]) -> Channels:
    """Return each channel's moments in the order of a file's rows; without the column, the channel is the empty text.

    Raises InvalidFile, naming the row (1 is the first below the header), for what cannot be read.
    """
    channels: Channels = {}
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        row = dict(zip(columns, values, strict=True))
        try:
            channels.setdefault(row.get("channel", ""), []).append(_moment(row))
        except ValueError as error:
            raise InvalidFile(f"row {number}: {error}") from None
    return channels


def _moment(row: Mapping[str, str]) -> Moment:
    day, time, status = row["day"], row.get("time") or "00:00", row.get("status")
    price, listed = _amount(row["price"]), _amount(row.get("list_price"))
    if not _TIME.match(time):
        raise ValueError("a time is written HH:MM")
    if not _DAY.match(day):
        raise ValueError("a day is written YYYY-MM-DD")
    if status and status not in list(Status):
        raise ValueError(f"a status is one of: {', '.join(Status)}")
    known = Status(status) if status else Status.UNOBSERVED if price is None else Status.OFFERED
    if known == Status.OFFERED and price is None:
        raise ValueError("an offered price is missing")
    return Moment(date.fromisoformat(day), time, price, known, listed)


def _amount(text: str | None) -> Decimal | None:
    if not text:
        return None
    if not _AMOUNT.match(text):
        raise ValueError("a price is a plain decimal number that is not negative, such as 12.50")
    return Decimal(text)
