"""`python -m tests.perf.outliers_bench`: what finding and marking outliers adds to a load, where one price in a hundred is wrong."""

import argparse
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow
import pyarrow.parquet
from rich.console import Console

from shared.db.connect import connect
from tests.perf.load_cost import Spent, compared, load_file, market_files, measured, settle
from tests.perf.outlier_trial import plant
from tests.support.servers import Servers
from workers.analytics.rollups import outliers
from workers.analytics.rollups.codec import Array
from workers.analytics.rollups.outliers import Outliers


def main() -> None:
    """Measure and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--observations", type=int, default=1_000_000, help="As many are there before the load.")
    parser.add_argument("--share", type=float, default=0.01, help="Of the loaded prices that are wrong.")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    marked = 0
    with tempfile.TemporaryDirectory(prefix="itemindex-bench-") as name, Servers.running(Path(name)) as servers:
        before, loaded = market_files(Path(name), options.items, options.observations)
        _spoil(loaded, options.share)

        def measure(find: bool) -> Spent:
            nonlocal marked
            with servers.fresh(contents=lambda settings, folder: load_file(settings, before)) as settings:
                settle(settings)
                with (
                    mock.patch("workers.analytics.rollups.strata.find", outliers.find if find else _none),
                    measured(servers) as spent,
                ):
                    load_file(settings, loaded)
                if find:
                    with connect(settings.database_url, application="bench") as connection:
                        [[marked]] = connection.execute("SELECT count(outlier) FROM observations").fetchall()
            return spent[0]

        words = compared(options.rounds, measure)
    Console().print(f"{options.observations:,} observations after as many, {marked:,} of all are outliers\n{words}")


def _spoil(path: Path, share: float) -> None:
    """Plant errors into a share of a file's prices."""
    table = pyarrow.parquet.read_table(path)
    cents = np.rint(100 * np.asarray(table["price"].cast(pyarrow.float64()))).astype("i8")
    wrong = plant(cents, "USD", share, seed=1).price
    prices = pyarrow.array(wrong / 100).cast(pyarrow.decimal128(12, 2), safe=False)
    table = table.set_column(table.schema.get_field_index("price"), "price", prices)
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _none(item: Array, channel: Array, day: Array, price: Array, currency: str) -> Outliers:
    return Outliers(np.empty(0, "i8"), np.empty(0, "S1"))


if __name__ == "__main__":
    main()
