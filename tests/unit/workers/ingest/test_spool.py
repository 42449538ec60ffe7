"""The spool gives back what a new month's table will hold."""

from datetime import date
from typing import Any

import numpy as np

from workers.ingest.batches import DEFAULT_BUFFERS
from workers.ingest.load.months import Months
from workers.ingest.load.spool import RowSpool
from workers.ingest.observations import OBSERVATION

MAY, JUNE = date(2000, 5, 1), date(2000, 6, 1)


def _rows_spool(marks: list[int], prices: list[int], *, listed: bool, month: date = MAY) -> Any:
    """Make rows as the load writes them."""
    rows = np.zeros(len(marks), OBSERVATION)
    rows["item"], rows["mark"], rows["price"], rows["list"] = 7, marks, prices, 5 if listed else -1
    rows["day"] = (month - date(2000, 1, 1)).days
    rows["units"], rows["currency"] = 2, b"USD"
    months = Months({}, events=True, buffers=DEFAULT_BUFFERS)
    chunks = [*months.take(rows, ["NORTH"]), *months.rest()]
    return np.concatenate([chunk.rows for chunk in chunks])


def test_of_a_state_in_several_runs_the_last_stays() -> None:
    with RowSpool(events=False) as spool:
        spool.add(MAY, _rows_spool([1 << 16, 2 << 16], [10, 20], listed=True), begins=True)
        spool.add(JUNE, _rows_spool([1 << 16], [99], listed=False, month=JUNE), begins=True)
        spool.add(MAY, _rows_spool([2 << 16, 3 << 16], [21, 30], listed=False), begins=True)
        rows = spool.read(MAY)
        assert sorted(rows["price"].tolist()) == [10, 21, 30]
        assert spool.read(JUNE)["price"].tolist() == [99]
        assert sorted(rows["list"].tolist()) == [0, 0, 5]
        assert set(rows["units"].tolist()) == {2}
        assert set(rows["currency"].tolist()) == {b"USD"}


def test_equal_events_all_stay() -> None:
    with RowSpool(events=True) as spool:
        for begins in (True, False, True):
            spool.add(MAY, _rows_spool([1 << 16, 2 << 16], [10, 20], listed=begins), begins=begins)
        assert sorted(spool.read(MAY)["price"].tolist()) == [10, 10, 10, 20, 20, 20]
