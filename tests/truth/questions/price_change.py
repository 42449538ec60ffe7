"""The change of prices of the same items against the period before, as insights show it, from the source files."""

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import Any

from tests.truth.exact import Near, share
from tests.truth.index import Index, Scope
from tests.truth.questions.price_index import Cells, cells_of, jevons

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
        pairs = [(earlier[iid], here[iid]) for iid in sorted(here.keys() & earlier.keys())]
        change = Near(Fraction(jevons(pairs)) - 1, places=6) if pairs else None
        return {"index_change": change, "share_matched": share(len(pairs), len(here))}

    return columns
