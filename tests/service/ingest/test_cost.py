"""What a load reads is in proportion to what it touches, however much the index holds."""

import time
from pathlib import Path

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.shop import load_rows


def test_an_item_that_moves_to_another_brand_costs_its_own_observations_and_not_all(
    settings: Settings, tmp_path: Path
) -> None:
    items = range(1, 2_001)
    june = "".join(
        f"{n},Thing {n},Vita,Drinks,Tea,1,2026-06-{day:02d},NORTH,{n},\n" for n in items[:-1] for day in range(1, 13)
    )
    may = f"{items[-1]},Thing,Vita,Drinks,Tea,1,2026-05-01,NORTH,9,\n"
    load_rows(settings, tmp_path, may + june)
    before = scanned(settings, "observations_2026_06", once_written="observations_2026_06")
    brands = ["Vita"] * (len(items) - 1) + ["Alco"]
    july = (f"{n},Thing,{brand},Drinks,Tea,1,2026-07-01,NORTH,9,\n" for n, brand in zip(items, brands, strict=True))
    load_rows(settings, tmp_path, "".join(july), name="july.csv")
    assert scanned(settings, "observations_2026_06", once_written="observations_2026_07") == before


def scanned(settings: Settings, table: str, *, once_written: str) -> int:
    """Return how many rows of a month have been read by scans of all of it.

    The server counts what a load has read and written when the load's connection ends.
    """
    ends = time.monotonic() + 60
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        while time.monotonic() < ends:
            query = "SELECT relname, n_tup_ins, seq_tup_read FROM pg_stat_user_tables"
            counted = {row[0]: row[1:] for row in connection.execute(query)}
            if counted.get(once_written, (0, 0))[0]:
                return int(counted[table][1])
            time.sleep(0.02)
    raise AssertionError(f"{once_written} was not written")
