"""The pictures of a report's page: those of many rows are made beside the event loop."""

import threading
from collections.abc import Iterator
from typing import Any

from edge.analytics.reports.declared import REPORTS_BY_KIND
from edge.dashboard import charts
from edge.dashboard.reports import draw_charts

PICTURE = REPORTS_BY_KIND["cohorts"].picture


class Rows(list[dict[str, Any]]):
    """Rows that note which threads have read them."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__(rows)
        self.threads: set[int] = set()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self.threads.add(threading.get_ident())
        return super().__iter__()


async def test_pictures_of_many_rows_are_drawn_in_a_thread() -> None:
    for brands, in_the_loop in ((2, True), (60, False)):
        names = {*PICTURE.lines, *PICTURE.changes, *PICTURE.spread, "min", "p25", "p75", "max", PICTURE.compared}
        rows = [
            {
                "period": f"2026-{month:02d}",
                "brand": f"b{brand}",
                "currency": "EUR",
                **dict.fromkeys(names, month + 0.5),
            }
            for month in range(1, 13)
            for brand in range(brands)
        ]
        noted = Rows(rows)
        made = await draw_charts(PICTURE, noted)
        assert made == {"plots": charts.plots(PICTURE, rows), "bars": charts.bars(PICTURE, rows)}, brands
        assert made["plots"] and made["bars"], brands
        assert (noted.threads == {threading.get_ident()}) is in_the_loop, brands
