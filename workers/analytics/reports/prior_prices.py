"""The prior prices of reductions among daily listings, all at once: what `shared.prior_price` says of each of them."""

import numpy as np

from shared.price_index.panel import Mask
from shared.prior_price import WINDOW_DAYS, Options
from workers.analytics.reports.daily_listings import DailyListings
from workers.analytics.rollups.arrays import Array

UNKNOWN = -1
"""In the place of a prior price where one of the 30 days before was not observed, or the rule leaves it open."""
_ROWS_AT_ONCE = 65_536


def announced_falls(listings: DailyListings) -> Array:
    """Return the rows on which a listing is below its list price and was not before, or was dearer."""
    announced = _announced(listings)
    begins = announced.copy()
    begins[1:] &= ~announced[:-1] | (listings.price[1:] < listings.price[:-1]) | ~listings.follow_another()[1:]
    rows: Array = np.flatnonzero(begins)
    return rows


def prior_prices(listings: DailyListings, rows: Array) -> Array:
    """Return the lowest price of the 30 days before each row (Directive 98/6/EC Art. 6a(2)), in minor units."""
    prior = np.full(len(rows), UNKNOWN, "i8")
    window = np.maximum(rows - WINDOW_DAYS, 0)  # a row a day: only so many rows are a complete window
    days = listings.day.take(rows) - listings.day.take(window)
    whole = (rows - listings.series_starts(rows) >= WINDOW_DAYS) & (days == WINDOW_DAYS)
    (complete,) = whole.nonzero()
    before = np.arange(-WINDOW_DAYS, 0)
    for start in range(0, len(complete), _ROWS_AT_ONCE):
        chosen = complete[start : start + _ROWS_AT_ONCE]
        prior[chosen] = listings.price.take(rows.take(chosen)[:, None] + before).min(axis=1)
    return prior


def prior_prices_of_steps(listings: DailyListings, rows: Array, options: Options) -> Array:
    """Return the prior price of the reduction that each announced row is a step of, in minor units.

    With a progressive rule (Art. 6a(5)) it is the one before the first step, if each day since then was observed, and
    the step is not later than `progressive_days`. Where it is not stated whether the rule applies, an earlier step
    within the 30 days leaves it open.
    """
    begins, before = _steps(listings)
    began = begins.take(rows)
    if options.progressive:
        first, day = _firsts(before).take(began), listings.day
        if options.progressive_days is not None:
            first = np.where(day.take(began) - day.take(first) > options.progressive_days, began, first)
        prior = prior_prices(listings, first)
        return np.where(day.take(began) - day.take(first) == began - first, prior, UNKNOWN)
    prior = prior_prices(listings, began)
    if options.progressive is None:
        earlier = before.take(began)
        prior[(earlier < began) & (earlier >= began - WINDOW_DAYS)] = UNKNOWN
    return prior


def _announced(listings: DailyListings) -> Mask:
    announced: Mask = listings.list_price > listings.price
    return announced


def _steps(listings: DailyListings) -> tuple[Array, Array]:
    """Return the first row of the step that each announced row is in, and of each such row that of the step before.

    A step is a run of announced rows of one price. The first step of a reduction is its own step before.
    """
    announced, place = _announced(listings), np.arange(len(listings.day))
    first_of_series = np.zeros(len(place), bool)
    first_of_series[listings.series()] = True
    continues, falls = np.zeros(len(place), bool), np.zeros(len(place), bool)
    both = announced[1:] & announced[:-1] & ~first_of_series[1:]
    continues[1:] = both & (listings.price[1:] == listings.price[:-1])
    falls[1:] = both & (listings.price[1:] < listings.price[:-1])
    begins = np.maximum.accumulate(np.where(continues, 0, place))
    return begins, np.where(falls, begins.take(np.maximum(place - 1, 0)), place)


def _firsts(before: Array) -> Array:
    """Return where following `before` from each place ends."""
    while True:
        further = before.take(before)
        if np.array_equal(further, before):
            return before
        before = further
