"""Price changes: how often prices move, which way, how far, and in which channel first."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.price_index.panel import Mask
from shared.price_index.rows import MATCHED_LEAST
from workers.analytics.reports.columns import Names, figures_or_none, grouped_schema, in_row_order
from workers.analytics.reports.daily_listings import GAP_DAYS_MAX, DailyListings
from workers.analytics.reports.filters import Tree, filter_of, with_defaults
from workers.analytics.reports.first_moves import PriceMoves, Responses
from workers.analytics.reports.intervals import BOUNDS, ENDS
from workers.analytics.reports.item_percentiles import distinct_items, percentiles
from workers.analytics.reports.item_ratios import METHOD as INTERVALS
from workers.analytics.reports.item_ratios import ItemRatio, item_ratios
from workers.analytics.reports.offers import OFFER_DAYS, returned
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import Range, day_of, number
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.window import range_of
from workers.analytics.rollups.arrays import Array, numbered_rows

FOLLOW_DAYS = 7
SIZE_PERCENTS = (10, 25, 50, 75, 90)
_SHARES = ("share_changed", "share_first")
_SIZES = ("increase_median", "decrease_median", *(f"size_p{percent}" for percent in SIZE_PERCENTS))
_FOLLOWER = [
    ("channel", pa.string()),
    ("matched_items", pa.int64()),
    ("moves", pa.int64()),
    ("followed", pa.int64()),
    ("share_followed", pa.float64()),
    ("days_median", pa.float64()),
]
_FIGURES = [
    ("channel", pa.string()),
    ("currency", pa.string()),
    ("kind", pa.string()),
    *((name, pa.int64()) for name in ("items", "comparisons", "changed_items", "changes")),
    *((name, pa.int64()) for name in ("increases", "decreases", "offer_changes")),
    *((f"share_changed{bound}", pa.float64()) for bound in ENDS),
    ("days_between_changes", pa.float64()),
    *((name, pa.float64()) for name in _SIZES),
    *((name, pa.int64()) for name in ("matched_changes", "first_moves", "joint_moves", "following_moves")),
    *((f"share_first{bound}", pa.float64()) for bound in ENDS),
    ("followers", pa.list_(pa.struct(_FOLLOWER))),
]
UNITS = {
    **dict.fromkeys(("items", "changed_items", "followers.matched_items"), "items"),
    "comparisons": "pairs of prices",
    **dict.fromkeys(("changes", "increases", "decreases", "offer_changes"), "changes"),
    **dict.fromkeys(("matched_changes", "first_moves", "joint_moves", "following_moves"), "changes"),
    **{f"share_changed{bound}": "share of comparisons" for bound in ENDS},
    "days_between_changes": "days",
    **dict.fromkeys(_SIZES, "share of the price before"),
    **{f"share_first{bound}": "share of matched_changes" for bound in ENDS},
    **dict.fromkeys(("followers.moves", "followers.followed"), "changes"),
    "followers.share_followed": "share of moves",
    "followers.days_median": "days",
}
ROUNDING = {
    **dict.fromkeys(("days_between_changes", *_SIZES, *_SHARES, "followers.share_followed"), SIX_DECIMALS),
    **{f"{name}{bound}": BOUNDS for name in _SHARES for bound in ENDS[1:]},
}
_METHOD = (
    "a day's price is the lowest of the item in the channel; it is compared with the one before it, at most "
    f"{GAP_DAYS_MAX} days earlier; share_changed is changes / comparisons, days_between_changes the days compared / "
    "changes; an offer is a fall with a return to the price before it within {offer_days} days: its changes are "
    "{offers}; a change is a first move where no other channel that has the item changed its price the same way in the "
    f"{{follow_days}} days before, nor on that day; {INTERVALS}; {OUTLIERS}"
)


class _Changes(NamedTuple):
    """Changes of prices, series after series and day after day: `row` is that of the listing with the new price."""

    row: Array
    before: Array
    after: Array

    @property
    def rises(self) -> Mask:
        """Return which are increases."""
        rises: Mask = self.after > self.before
        return rises

    def take(self, chosen: Array) -> "_Changes":
        """Return some of them."""
        return _Changes(*(column[chosen] for column in self))


def make(connection: Connection, parameters: dict[str, Any], report_progress: ReportProgress) -> Answer:
    """Count changes of prices.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    asked = with_defaults(parameters, granularity="month", offer_days=OFFER_DAYS, follow_days=FOLLOW_DAYS)
    offer_days, follow_days = asked["offer_days"], asked["follow_days"]
    with snapshot(connection):
        tree = Tree.read(connection)
        chosen = filter_of(connection, tree, asked)
        days = range_of(connection, tree, chosen, asked)
        reader = Reader(connection, tree, days, report_progress)
        chosen = reader.with_default_kind(chosen)
        # What happened around the range says which of its changes are offers, and which came first.
        before, after = follow_days + offer_days + GAP_DAYS_MAX, follow_days + max(offer_days, GAP_DAYS_MAX)
        listings = DailyListings.read(reader, chosen, before, after)
        aside = SetAside(reader, chosen)
        aside.of(chosen.grouped())
        groups = dict(zip(chosen.group_by, (listings.first_group, listings.second_group), strict=False))
        names = Names.of_brands(connection, tree, np.unique(groups["brand"]).tolist() if "brand" in groups else ())
    report_progress("computing", 0, None)
    listings = listings.take(np.flatnonzero(listings.price))
    compared = listings.follow_another()
    changes = _changes(listings, compared)
    on_offer = returned(listings, offer_days).cover(len(listings.day))
    is_offer = on_offer.take(changes.row) | on_offer.take(changes.row - 1)  # the return is the row after an offer
    counted = changes.take(~is_offer) if asked.get("offers") == "exclude" else changes
    columns = _columns(listings, compared, changes, is_offer, counted, days, follow_days, names.channels)
    columns |= names.columns(chosen.group_by, (columns["first_group"], columns["second_group"]))
    columns["kind"] = [chosen.kind] * len(columns["period"])
    method = _METHOD.format(
        offer_days=offer_days,
        follow_days=follow_days,
        offers="not counted" if asked.get("offers") == "exclude" else "counted like all others",
    )
    seen = listings.day[(listings.day >= number(days.first)) & (listings.day <= number(days.last))]
    schema = grouped_schema(chosen.group_by, _FIGURES)
    return Answer(
        in_row_order(Rows(schema, [columns[name] for name in schema.names]), chosen.group_by),
        days,
        set(np.unique(seen).tolist()),
        UNITS,
        method,
        ROUNDING,
        kind=chosen.kind,
        outliers=aside.summary(),
    )


def _changes(listings: DailyListings, compared: Mask) -> _Changes:
    price = listings.price
    row = np.flatnonzero(compared[1:] & (price[1:] != price[:-1])) + 1
    return _Changes(row, price.take(row - 1), price.take(row))


class _Segments(NamedTuple):
    """The rows of an answer: their period, groups, channel and currency, and the segment of each listing, or -1."""

    period: Array
    first_group: Array
    second_group: Array
    channel: Array
    currency: Array
    of_listing: Array

    @classmethod
    def of(cls, listings: DailyListings, compared: Mask, days: Range) -> "_Segments":
        """Return the segments of the listings of a range that are compared with the one before."""
        is_inside = (listings.day >= number(days.first)) & (listings.day <= number(days.last))
        rows = np.flatnonzero(compared & is_inside)
        part = listings.take(rows)
        period = days.periods_of(part.day.astype("i8"))
        least = int(period.min(initial=0))
        of_listing = np.full(len(listings.day), -1)
        columns = period - least, part.first_group, part.second_group, part.channel, part.currency
        (period, first_group, second_group, channel, currency), of_listing[rows] = numbered_rows(*columns)
        return cls(period + least, first_group, second_group, channel, currency, of_listing)


def _columns(
    listings: DailyListings,
    compared: Mask,
    changes: _Changes,
    is_offer: Mask,
    counted: _Changes,
    days: Range,
    follow_days: int,
    channels: dict[int, str],
) -> dict[str, list[Any]]:
    """Return the columns of the rows, with ids of groups instead of their names."""
    segments = _Segments.of(listings, compared, days)
    count = len(segments.period)
    rows = np.flatnonzero(segments.of_listing >= 0)
    of_rows, item = segments.of_listing.take(rows), listings.item.take(rows)
    is_changed = np.zeros(len(listings.day), bool)
    is_changed[counted.row] = True
    passed = np.diff(listings.day, prepend=0).take(rows)
    of_changes = segments.of_listing.take(changes.row)
    places = np.flatnonzero(segments.of_listing.take(counted.row) >= 0)
    inside = counted.take(places)
    of_inside, changing = segments.of_listing.take(inside.row), listings.item.take(inside.row)
    rises, size = inside.rises, np.abs(inside.after / inside.before - 1)
    moves = PriceMoves(listings, counted.row, counted.rises, follow_days=follow_days, gap_days_max=GAP_DAYS_MAX)
    roles = moves.roles(places)
    items, comparisons = distinct_items(of_rows, item, count), np.bincount(of_rows, minlength=count)
    matched = np.flatnonzero(roles.matched)
    figures = {
        "items": items,
        "comparisons": comparisons,
        "changed_items": distinct_items(of_inside, changing, count),
        "changes": np.bincount(of_inside, minlength=count),
        "increases": np.bincount(of_inside[rises], minlength=count),
        "decreases": np.bincount(of_inside[~rises], minlength=count),
        "offer_changes": np.bincount(of_changes[is_offer & (of_changes >= 0)], minlength=count),
        "matched_changes": np.bincount(of_inside[roles.matched], minlength=count),
        "first_moves": np.bincount(of_inside[roles.first], minlength=count),
        "joint_moves": np.bincount(of_inside[roles.joint & ~roles.following], minlength=count),
        "following_moves": np.bincount(of_inside[roles.following], minlength=count),
    }
    with np.errstate(divide="ignore"):
        between = np.bincount(of_rows, passed, count) / figures["changes"]
    known = (items >= MATCHED_LEAST) & (figures["changes"] > 0)
    measures = {
        "days_between_changes": np.where(known, between, np.nan),
        "increase_median": percentiles(of_inside[rises], changing[rises], size[rises], count, (50,))[0],
        "decrease_median": percentiles(of_inside[~rises], changing[~rises], -size[~rises], count, (50,))[0],
        **dict(zip(_SIZES[2:], percentiles(of_inside, changing, size, count, SIZE_PERCENTS), strict=True)),
    }
    changed = item_ratios(of_rows, item, is_changed.take(rows).astype("i8"), np.ones(len(rows), "i8"), count)
    is_first = roles.first.take(matched).astype("i8")
    led = item_ratios(of_inside.take(matched), changing.take(matched), is_first, np.ones_like(is_first), count)
    followers = _followers(
        moves.responses(places[roles.first]), of_inside[roles.first], changing[roles.first], channels
    )
    return {
        "period": list(map(day_of, segments.period.tolist())),
        "first_group": segments.first_group.tolist(),
        "second_group": segments.second_group.tolist(),
        "channel": [channels[number] for number in segments.channel.tolist()],
        "currency": [listings.currencies[place] for place in segments.currency.tolist()],
        **{name: column.tolist() for name, column in figures.items()},
        **{name: figures_or_none(column) for name, column in measures.items()},
        **_ratio_columns("share_changed", changed),
        **_ratio_columns("share_first", led),
        "followers": [followers.get(place, []) for place in range(count)],
    }


def _ratio_columns(name: str, ratios: list[ItemRatio]) -> dict[str, list[float | None]]:
    columns = zip(ENDS, zip(*ratios, strict=True), strict=True) if ratios else ((bound, ()) for bound in ENDS)
    return {f"{name}{bound}": list(values) for bound, values in columns}


def _followers(
    responses: Responses, segment: Array, item: Array, channels: dict[int, str]
) -> dict[int, list[dict[str, Any]]]:
    """Return by segment what each other channel did after the first moves; `segment` and `item` are of these."""
    (of, channel), pair = numbered_rows(segment.take(responses.change), responses.channel)
    count, followed = len(of), responses.lag > 0
    items, moves = distinct_items(pair, item.take(responses.change), count), np.bincount(pair, minlength=count)
    n, known = np.bincount(pair[followed], minlength=count), items >= MATCHED_LEAST
    lags = percentiles(pair[followed], np.arange(followed.sum()), responses.lag[followed], count, (50,), least=1)[0]
    columns = (
        [channels[number] for number in channel.tolist()],
        items.tolist(),
        moves.tolist(),
        n.tolist(),
        figures_or_none(np.where(known, n / moves, np.nan)),
        figures_or_none(np.where(known, lags, np.nan)),
    )
    names = [name for name, _ in _FOLLOWER]
    by_segment: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for place, *values in sorted(zip(of.tolist(), *columns, strict=True), key=lambda one: one[:2]):
        by_segment[place].append(dict(zip(names, values, strict=True)))
    return by_segment
