"""Where no price changes, an index is 100 in every period: whatever comes, goes or is missing, by every method."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.price_index.offered import METHODS, SPLICES
from shared.price_index.panel import Floats, Panel
from shared.price_index.question import IndexQuestion, method_named
from shared.price_index.rows import index_rows
from tests.unit.shared.price_index.cases import NAN


@st.composite
def panels(draw: Any) -> Panel:
    """Draw items whose prices stay, each in some periods; the first is in all, so that every period has an index."""
    periods, items = draw(st.integers(2, 8)), draw(st.integers(1, 7))
    prices: Floats = np.array(draw(st.lists(st.integers(1, 10**6), min_size=items, max_size=items)), "f8") / 100
    seen = np.array(draw(st.lists(st.booleans(), min_size=periods * items, max_size=periods * items)))
    seen = seen.reshape(periods, items)
    seen[:, 0] = True
    sold = draw(st.lists(st.integers(1, 500), min_size=periods * items, max_size=periods * items))
    quantities = np.where(seen, np.array(sold, "f8").reshape(periods, items), 0.0)
    return Panel(np.where(seen, prices, NAN), quantities)


@pytest.mark.parametrize("method", METHODS)
@given(panel=panels(), window=st.one_of(st.none(), st.integers(2, 5)), splice=st.sampled_from(SPLICES))
def test_an_index_of_prices_that_stay_is_a_hundred(method: str, panel: Panel, window: int | None, splice: str) -> None:
    question = IndexQuestion(method_named(method), window=window, splice=splice)
    labels = [str(period) for period in range(panel.periods)]
    rows = index_rows(labels, panel, question, 100.0, interval=True)
    assert [round(row.index or 0.0, 6) for row in rows] == [100.0] * panel.periods
    assert [(row.low, row.high) for row in rows] == [(None, None)] * panel.periods, (
        "nothing changed: no spread is known"
    )
