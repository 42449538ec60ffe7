"""Small panels whose indices can be worked out on paper."""

import numpy as np

from shared.price_index.panel import Floats, Panel
from shared.price_index.question import IndexQuestion, method_named
from shared.price_index.series import index_series

NAN = float("nan")
# Two items, two periods: relatives 2 and 1/2.
PRICES = np.array([[1.0, 4.0], [2.0, 2.0]])
QUANTITIES = np.array([[4.0, 1.0], [1.0, 4.0]])
TWO = Panel(PRICES, QUANTITIES)
# Five periods of three items; the third one comes late and the second one goes early.
GAPS = Panel(
    np.array([[1.0, 2, NAN], [1.1, 2.5, 8], [1.3, 2.4, 7], [1.2, NAN, 9], [1.6, NAN, 12]]),
    np.array([[10.0, 3, 0], [8, 2, 5], [9, 2, 6], [7, 0, 4], [6, 0, 3]]),
)


def series(method: str, panel: Panel, **options: object) -> Floats:
    """Return an index series with the first period at 1."""
    return index_series(panel, IndexQuestion(method_named(method), **options))  # type: ignore[arg-type]
