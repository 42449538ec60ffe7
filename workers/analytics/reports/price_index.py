"""The price index of brands or categories: how prices of the same items changed, free of the mix."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa

from shared.analytics.observations import OBSERVATION_KINDS
from shared.analytics.results import SIX_DECIMALS, Rows
from shared.db.connect import Connection
from shared.errors import InvalidParameter
from shared.price_index.offered import DEFAULT_METHOD, DEFAULT_SPLICE, OTHER_METHOD, UNITS_NEEDED
from shared.price_index.panel import PriceTable
from shared.price_index.question import IndexQuestion, method_named, needs_quantities, splice_named
from shared.price_index.rows import IndexRow, comparisons, index_rows, logarithms
from workers.analytics.reports.columns import MONEY
from workers.analytics.reports.filters import Tree, filter_of, with_defaults
from workers.analytics.reports.intervals import BY_INTERVAL, decimals
from workers.analytics.reports.outlier_counts import METHOD as OUTLIERS
from workers.analytics.reports.outlier_counts import SetAside
from workers.analytics.reports.periods import day_of
from workers.analytics.reports.price_tables import price_tables
from workers.analytics.reports.query import Reader, ReportProgress, snapshot
from workers.analytics.reports.result import Answer
from workers.analytics.reports.unit_prices import UnitPrices
from workers.analytics.reports.window import range_of

FIRST = 100.0
COMPARISONS_MAX = 4_000_000_000
"""With more, an index takes minutes: longer than a job of its kind may."""
LOGARITHMS_MAX = 100_000_000
"""With more, an interval takes over 800 MB of a worker's memory: over a thousand periods that are all compared."""
SCHEMA = pa.schema(
    [
        ("period", pa.date32()),
        ("currency", pa.string()),
        ("kind", pa.string()),
        *((name, pa.float64()) for name in ("index", "low", "high")),
        ("items", pa.int64()),
        ("set_aside", pa.int64()),
        ("matched_items", pa.int64()),
        ("matched_prices", pa.int64()),
        ("share_matched", pa.float64()),
        ("new_items", pa.int64()),
        ("vanished_items", pa.int64()),
        ("compared_with", pa.date32()),
        ("median", MONEY),
        ("median_index", pa.float64()),
    ]
)
UNITS = {
    **dict.fromkeys(("index", "low", "high", "median_index"), "first period = 100"),
    **dict.fromkeys(("items", "matched_items", "new_items", "vanished_items"), "items"),
    "matched_prices": "prices",
    "share_matched": "share of items",
    "median": "currency",
    "set_aside": "observations",
}
ROUNDING = {
    **dict.fromkeys(("index", "low", "high"), BY_INTERVAL),
    **dict.fromkeys(("share_matched", "median_index"), SIX_DECIMALS),
}
_METHOD = (
    "an item's price in {place} in a period is the unit value of its sales, or the geometric mean of its listings; "
    "{name} over the prices that both periods have{window}; low and high: 95 % by a jackknife over items, null below "
    f"three matched items; the median is of every observed price; {OUTLIERS}"
)


class _Beside(NamedTuple):
    """The figures beside an index, by currency and first day of a period."""

    medians: dict[tuple[str, date], Decimal]
    set_aside: dict[tuple[str, date], int]


def question_of(parameters: dict[str, Any], default_method: str) -> IndexQuestion:
    """Return the method, window and splice that a report's parameters name."""
    return IndexQuestion(
        method=method_named(parameters.get("method") or default_method),
        window=parameters.get("window"),
        splice=splice_named(parameters.get("splice") or DEFAULT_SPLICE),
    )


def make(
    connection: Connection,
    parameters: dict[str, Any],
    report_progress: ReportProgress,
    comparisons_max: int = COMPARISONS_MAX,
    logarithms_max: int = LOGARITHMS_MAX,
) -> Answer:
    """Compute a price index.

    Raises BrandNotFound, CategoryNotFound, InvalidParameter, and what `report_progress` raises to stop it.
    """
    question = question_of(parameters, DEFAULT_METHOD)
    with snapshot(connection):
        tree = Tree.read(connection)
        chosen = filter_of(connection, tree, parameters)
        if needs_quantities(question):  # only sales have any, and the edge refuses such a method of listings
            chosen = replace(chosen, kinds=OBSERVATION_KINDS["sale"])
        days = range_of(connection, tree, chosen, with_defaults(parameters, granularity="month"))
        reader = Reader(connection, tree, days, report_progress, UnitPrices.asked(connection, parameters))
        chosen = reader.with_default_kind(chosen)
        by_channel = parameters.get("match") != "item"
        tables = price_tables(reader, chosen, by_channel=by_channel)
        without = reader.without_content(chosen)
        is_sold = bool(tables or (without and without.items_without))
        if needs_quantities(question) and not is_sold and not days.awaits_data:
            raise InvalidParameter("method", f"{UNITS_NEEDED}, and nothing of this was sold; {OTHER_METHOD}")
        gathered = reader.gather(chosen)
        aside = SetAside(reader, chosen)
        counts = aside.of(chosen)
    report_progress("computing", 0, len(tables))
    medians = {(key.currency, day_of(key.period)): median for key, median in gathered.medians().items()}
    others = _Beside(medians, {(key.currency, day_of(key.period)): n for key, n in counts.items()})
    rows = []
    for done, ((currency, _), table) in enumerate(tables.items()):
        index = _computed(table, question, comparisons_max, logarithms_max)
        rows += _rows(index, chosen.kind, currency, others)
        report_progress("computing", done + 1, len(tables))
    rows.sort(key=lambda row: (row["currency"], row["period"]))
    return Answer(
        Rows.of(rows, SCHEMA),
        days,
        gathered.days,
        UNITS,
        _METHOD.format(
            place="a channel" if by_channel else "all channels together",
            name=question.method.name,
            window=_window_told(question),
        ),
        ROUNDING,
        kind=chosen.kind,
        outliers=aside.summary(),
        unit_prices=without,
    )


def _computed(table: PriceTable, question: IndexQuestion, comparisons_max: int, logarithms_max: int) -> list[IndexRow]:
    many = comparisons(table.panel, question) > comparisons_max
    if many or logarithms(table.panel, question) > logarithms_max:
        raise InvalidParameter("granularity", "these are too many periods for so many items; take longer or fewer ones")
    return index_rows(table.periods, table.panel, question, FIRST, interval=True, cluster=table.item)


def _rows(index: list[IndexRow], kind: str, currency: str, beside: _Beside) -> list[dict[str, Any]]:
    first = beside.medians[currency, date.fromisoformat(index[0].period)]
    rows = []
    for row in index:
        period = date.fromisoformat(row.period)
        median = beside.medians[currency, period]
        relative = FIRST * float(median) / float(first) if first else None
        digits = decimals(row.low, row.high)
        rows.append(
            {
                "period": period,
                "currency": currency,
                "kind": kind,
                "index": _rounded(row.index, digits),
                "low": _rounded(row.low, digits),
                "high": _rounded(row.high, digits),
                "items": row.items,
                "set_aside": beside.set_aside.get((currency, period), 0),
                "matched_items": row.matched_items,
                "matched_prices": row.matched_prices,
                "share_matched": _rounded(row.share_matched),
                "new_items": row.new,
                "vanished_items": row.vanished,
                "compared_with": date.fromisoformat(row.compared_with) if row.compared_with else None,
                "median": median,
                "median_index": _rounded(relative),
            }
        )
    return rows


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None else round(value, digits)


def _window_told(question: IndexQuestion) -> str:
    if not question.over_window:
        return ", chained" if question.window is None else ", chained (`window` is not used: it compares two periods)"
    if question.window is None:
        return ""
    return f", in windows of {question.window} periods that have data, linked by the {question.splice} splice"
