"""Offers among daily listings: below a list price, below the prior price, or by a price that returns."""

from typing import NamedTuple

import numpy as np

from shared.price_index.panel import Mask
from shared.prior_price import WINDOW_DAYS
from workers.analytics.reports.daily_listings import DailyListings
from workers.analytics.reports.prior_prices import prior_prices
from workers.analytics.rollups.arrays import Array

OFFER_DAYS = WINDOW_DAYS
"""Within so many days a price must return, unless the question says how many."""


class Offers(NamedTuple):
    """Offers by their first and last rows among daily listings, in order; none has a row in common with another.

    `begins`: whether the day before was observed and not on offer; `ends`: whether the day after was.
    """

    first: Array
    last: Array
    depth: Array
    begins: Array
    ends: Array

    def take(self, rows: Array) -> "Offers":
        return Offers(*(column.take(rows) for column in self))

    def cover(self, rows: int) -> Mask:
        """Return which of so many rows are on offer."""
        changes = np.zeros(rows + 1, "i8")
        changes[self.first] += 1
        changes[self.last + 1] -= 1
        covered: Mask = np.cumsum(changes[:-1]) > 0
        return covered


def announced(listings: DailyListings) -> Offers:
    """Return the offers below a list price."""
    unknown, on_offer = ~listings.follow_another(), listings.list_price > listings.price
    first = np.flatnonzero(on_offer & (unknown | ~np.append(False, on_offer[:-1])))
    next_unknown, next_on_offer = np.append(unknown[1:], True), np.append(on_offer[1:], False)
    last = np.flatnonzero(on_offer & (next_unknown | ~next_on_offer))
    depth = np.where(on_offer, 1 - listings.price / np.maximum(listings.list_price, 1), 0.0)
    deepest = np.maximum.reduceat(depth, first) if len(first) else np.empty(0)
    return Offers(first, last, deepest, ~unknown.take(first), ~next_unknown.take(last))


def returned(listings: DailyListings, offer_days: int) -> Offers:
    """Return the falls to a lower price that returns within so many days; of those within another one, the outer."""
    price, follows = listings.price, listings.follow_another()
    row = np.flatnonzero(follows[1:] & (price[1:] != price[:-1])) + 1
    stretch, day, before, after = np.cumsum(~follows).take(row), listings.day.take(row), price.take(row - 1), price[row]
    begins, end, steps = np.flatnonzero(after < before), np.zeros(len(row), "i8"), 0
    while len(begins):  # at most so often as there are days in which a price may return
        steps += 1
        begins = begins[begins + steps < len(row)]
        ends = begins + steps
        in_time = (stretch[ends] == stretch[begins]) & (day[ends] - day[begins] <= offer_days)
        found = in_time & (after[ends] == before[begins])
        end[begins[found]] = ends[found]
        begins = begins[in_time & (after[ends] < before[begins])]
    begins = np.flatnonzero(end)
    ends = end.take(begins)
    outer = np.flatnonzero(begins >= np.maximum.accumulate(np.append(0, ends))[:-1])
    begins, first, until = begins.take(outer), row.take(begins.take(outer)), row.take(ends.take(outer))
    depth = 1 - _lowest(price, first, until) / before.take(begins)
    return Offers(first, until - 1, depth, *(np.ones(len(first), bool),) * 2)


def below_prior_price(listings: DailyListings, offers: Offers) -> Offers:
    """Return those of the offers whose first price is below the prior price, with their depth below it."""
    prior = prior_prices(listings, offers.first)
    below = np.flatnonzero(prior > listings.price.take(offers.first))
    offers, prior = offers.take(below), prior.take(below)
    return offers._replace(depth=1 - _lowest(listings.price, offers.first, offers.last + 1) / prior)


def _lowest(price: Array, first: Array, after: Array) -> Array:
    """Return the lowest of the prices of each stretch of rows."""
    bounds = np.stack((first, after), axis=1).ravel()
    lowest: Array = np.minimum.reduceat(np.append(price, 0), bounds)[::2] if len(first) else np.empty(0)
    return lowest
