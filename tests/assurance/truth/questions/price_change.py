"""The change of prices of the same items against the period before, as insights show it, from the source files."""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Any

from tests.assurance.truth.exact import Near, share
from tests.assurance.truth.index import Index, Scope
from tests.assurance.truth.questions.price_index import ITEMS_MAX, Cells, cells_of, digits, intervals, jevons

UNKNOWN = {"index_change": None, "share_matched": None}


def price_changes(index: Index, scope: Scope) -> Callable[[str, date], dict[str, Any]]:
    """Return what tells the two columns of a currency and period; of both kinds together nothing is compared."""
    if scope.kind == "both":
        return lambda currency, period: UNKNOWN
    before, now = cells_of(index, scope.compared()), cells_of(index, scope)

    def columns(currency: str, period: date) -> dict[str, Any]:
        here: Cells | None = now.get(currency, {}).get(period)
        earlier: Cells | None = before.get(currency, {}).get(scope.period_before(period))
        if here is None or earlier is None:
            return UNKNOWN
        both = sorted(here.keys() & earlier.keys())
        matched, items = ({iid for iid, _ in cells_} for cells_ in (both, here))
        part = {"share_matched": share(len(matched), len(items))}
        if not both:
            return {"index_change": None, **part}
        change = jevons([(earlier[key], here[key]) for key in both])
        if len({iid for iid, _ in (*here, *earlier)}) > ITEMS_MAX:
            return {"index_change": Near(Fraction(change) - 1, places=1), **part}  # an interval of groups is not judged
        low, high = intervals([earlier, here], [1.0, change], jevons, "jevons")[1]
        places = digits(low and low / 100, high and high / 100)
        return {"index_change": Near(Fraction(change) - 1, places=places), **part}

    return columns
