"""A trial of the outliers: errors planted into prices that are taken for right, and how many are found. Pure."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from deploy.ctl.calc import COLUMN, CURRENCY, FILE, names_of
from deploy.ctl.console import FiniteRange, json_option, show
from deploy.ctl.main import run
from shared.analytics.outliers import PER_US_DOLLAR
from shared.errors import InvalidFile
from workers.analytics.rollups import outlier_file
from workers.analytics.rollups.codec import Array
from workers.analytics.rollups.outliers import PACKS

FALSE_TEXTS = ("", "0", "false", "no")
_IMPLAUSIBLE = (3.0, 8.0)
_LEAST_FACTOR = 1.5  # rates nearer to 1 make no error that a price could show


@dataclass(frozen=True)
class Planted:
    """Prices with errors in them; `error` names each row's, and is empty for those that are as they were."""

    price: Array
    error: Array


@dataclass(frozen=True)
class Score:
    """How well the outliers agree with the errors. Precision and recall are None where nothing was found or planted."""

    rows: int
    errors: int
    set_aside: int
    found: int
    precision: float | None
    recall: float | None
    recall_by_error: dict[str, float]


def plant(price: Array, currency: str, rate: float, seed: int) -> Planted:
    """Plant an error into a share of the prices, each kind as often; the same seed plants the same errors."""
    random = np.random.default_rng(seed)
    chosen = np.flatnonzero(random.random(len(price)) < rate)
    factors = _factors(currency)
    names = np.array([*factors, "neighbours"])
    kind = random.integers(0, len(names), len(chosen))
    low, high = np.log(_IMPLAUSIBLE)
    factor = np.exp(random.uniform(low, high, len(chosen)) * random.choice((-1, 1), len(chosen)))
    for number, known in enumerate(factors.values()):
        factor = np.where(kind == number, random.choice(known, len(chosen)), factor)
    changed = price.copy()
    changed[chosen] = np.maximum(1, np.rint(price[chosen] * factor))
    error = np.full(len(price), "", names.dtype)
    error[chosen] = np.where(changed[chosen] == price[chosen], "", names.take(kind))
    return Planted(changed, error)


def _factors(currency: str) -> dict[str, list[float]]:
    own = PER_US_DOLLAR.get(currency, 1.0)
    rates = [rate / own for code, rate in PER_US_DOLLAR.items() if code != currency]
    packs = [float(pack) for pack in PACKS]
    return {
        "digit_shift": [0.01, 0.1, 10.0, 100.0],
        "currency": [rate for rate in rates if abs(np.log(rate)) > np.log(_LEAST_FACTOR)],
        "unit_price": [*packs, *(1 / pack for pack in packs)],
    }


def score(letters: Array, error: Array) -> Score:
    """Compare outliers with the errors that were planted, or that a file names."""
    flagged, wrong = letters != b"-", error != ""
    caught = int((flagged & wrong).sum())
    by_error = {str(name): round(float(flagged[error == name].mean()), 6) for name in np.unique(error[wrong])}
    precision, recall = (round(caught / int(n), 6) if n else None for n in (flagged.sum(), wrong.sum()))
    return Score(len(error), int(wrong.sum()), int(flagged.sum()), caught, precision, recall, by_error)


@click.command(epilog="Example: python -m tests.perf.outlier_trial prices.csv.gz --rate 0.01 --seed 1 --json")
@FILE
@CURRENCY
@COLUMN
@click.option("--truth", help="A column that says which rows are wrong; then no errors are planted.")
@click.option("--rate", type=FiniteRange(0, 0.5), default=0.01, show_default=True, help="Share of planted errors.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the planted errors.")
@json_option
def evaluate(
    file: Path, currency: str, columns: tuple[str, ...], truth: str | None, rate: float, seed: int, as_json: bool
) -> None:
    """Measure precision and recall: on errors planted into the file, or on those that a column names."""
    read = outlier_file.read(file, names_of(columns), currency)
    if truth is None:
        planted = plant(read.price, currency, rate, seed)
        said: dict[str, Any] = {"rate": rate, "seed": seed}
    else:
        planted = Planted(read.price, _errors(read, truth))
        said = {"truth": truth}
    show([{**said, **asdict(score(read.outliers(planted.price), planted.error))}], as_json=as_json, title="outliers")


def _errors(read: outlier_file.PriceFile, truth: str) -> Any:
    if truth not in read.rows.column_names:
        raise InvalidFile(f"the file has no column `{truth}`")
    return np.array(["" if text.strip().lower() in FALSE_TEXTS else "error" for text in read.rows[truth].to_pylist()])


if __name__ == "__main__":
    run(evaluate)
