"""`python -m tests.assurance.perf.generate`: believable data at any scale, loaded by the same path as any source."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from rich.progress import Progress

from deploy.ctl.console import console, data_dir_option, for_programs, json_option, report, settings
from deploy.ctl.main import run
from deploy.ctl.run_load import load_with_bar, show_summary, wait_for_index
from workers.ingest.mapping import read

SYLLABLES = tuple("al be co da el fi go hu in jo ka lu mi no or pa qui ro sa ti ur va wi xe yo zu".split())
ADJECTIVES = tuple(
    "Classic Organic Fresh Light Extra Original Golden Family Mini Royal Crispy Soft Pure Daily Premium Green".split()
)
SIZES = ("100g", "200g", "250g", "400g", "500g", "750g", "1kg", "2kg", "330ml", "1L", "6 pack", "12 pack")
CHANNELS = ("NORTH", "SOUTH", "EAST", "WEST", "ONLINE", "OUTLET", "STATION", "MARKET", "EXPRESS")
TREE = {
    "Food": (
        "Bread",
        "Rice",
        "Pasta",
        "Milk",
        "Cheese",
        "Yoghurt",
        "Chocolate",
        "Biscuits",
        "Honey",
        "Olive oil",
        "Soup",
        "Tea",
    ),
    "Drinks": ("Juice", "Water", "Cola", "Beer", "Wine", "Coffee", "Soy milk", "Lemonade"),
    "Home": ("Soap", "Candle", "Towel", "Lamp", "Kettle", "Pan", "Mug", "Broom", "Blanket"),
    "Clothing": ("Shirt", "Sneaker", "Jacket", "Sock", "Hat", "Dress", "Jeans", "Scarf"),
    "Electronics": ("Headphones", "Charger", "Keyboard", "Speaker", "Camera", "Monitor"),
    "Garden": ("Hose", "Shovel", "Seeds", "Flower pot", "Rake"),
    "Beauty": ("Shampoo", "Lotion", "Perfume", "Lipstick", "Toothpaste"),
    "Toys": ("Puzzle", "Doll", "Blocks", "Kite", "Board game"),
}


LAST_DAY = np.datetime64("2026-06-30")
DAYS = 365
_BATCH = 262_144
_TYPES = [(group, kind) for group, kinds in TREE.items() for kind in kinds]
_AMOUNT = pa.decimal128(12, 2)
_SALES = [("day", pa.date32()), ("channel", pa.dictionary(pa.int32(), pa.string())), ("price", _AMOUNT)]
_LISTINGS = [*_SALES, ("list_price", _AMOUNT), ("co2", _AMOUNT)]

MAPPING = """# The mapping of generated data; written beside it.
source = "generated"
title = "Generated data"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
brand = "brand"
category = ["group", "type"]
product_type = "type"
[item.attributes]
weight_kg = { column = "name", unit = "kg" }
[observation]
day = "day"
channel = "channel"
price = "price"
currency = { constant = "USD" }
kind = "sale"
identity = "event"
"""
LISTING_MAPPING = (
    MAPPING.replace('kind = "sale"\nidentity = "event"\n', 'list_price = "list_price"\n')
    + """
[[impacts]]
indicator = "co2e_kg"
value = "co2"
basis = "measured"
method = "generated"
"""
)
"""The mapping of generated listings, of the same source and items."""
LISTING_CHANNELS, LISTING_WEEKS = 4, 52


def write(
    path: Path, *, items: int, observations: int, seed: int, report_progress: Callable[[int], None] = lambda rows: None
) -> None:
    """Write a market as Parquet, one row an observation, in the order of days; the same arguments, the same bytes."""
    market = _Market(items, seed)
    _write(path, market, market.observations(observations), _SALES, report_progress)


def write_listings(path: Path, *, items: int, observations: int, seed: int) -> None:
    """Write listings of the first items of that market: weekly, in four channels, for a year, with offers."""
    market = _Market(items, seed)
    _write(path, market, market.listings(observations), _LISTINGS, lambda rows: None)


def _write(
    path: Path, market: "_Market", batches: Iterator[Any], fields: Any, report_progress: Callable[[int], None]
) -> None:
    schema = pa.schema([*((name, pa.dictionary(pa.int32(), pa.string())) for name in market.columns), *fields])
    done = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
            done += batch.num_rows
            report_progress(done)


class _Market:
    def __init__(self, items: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        random = self._random
        brands = max(10, items // 120)
        # Few brands have most items, most brands have few (Zipf): as in every real index.
        weights = 1 / np.arange(1, brands + 1) ** 0.9
        brand = random.choice(brands, items, p=weights / weights.sum())
        kind = random.integers(0, len(_TYPES), items)
        look, size = random.integers(0, len(ADJECTIVES), items), random.integers(0, len(SIZES), items)
        names = [_brand_name(n) for n in range(brands)]
        groups, types = [group for group, _ in _TYPES], [name for _, name in _TYPES]
        ids = pa.array([f"G{n:08d}" for n in range(items)])
        titles = pa.array(
            f"{names[b]} {ADJECTIVES[a]} {types[t]} {SIZES[s]}"
            for b, a, t, s in zip(brand, look, kind, size, strict=True)
        )
        self._items = items
        self.columns: dict[str, tuple[Any, Any]] = {
            "id": _distinct(np.arange(items), ids),
            "name": _distinct(np.arange(items), titles),
            "brand": _distinct(brand, pa.array(names)),
            "group": _distinct(kind, pa.array(groups)),
            "type": _distinct(kind, pa.array(types)),
        }
        self._base = np.exp(random.normal(2.5, 0.9, items)) * (1 + kind % 7)
        self._phase = random.uniform(0, 2 * np.pi, items)

    def observations(self, count: int) -> Iterator[Any]:
        """Yield record batches in the order of days: some items are sold often, every item at least once in a while."""
        random, channels = self._random, pa.array(CHANNELS)
        for start in range(0, count, _BATCH):
            rows = min(_BATCH, count - start)
            number = np.arange(start, start + rows)
            # Each item comes once before any comes again by chance, so that no item is without an observation.
            often = (self._items * random.random(rows) ** 2).astype("i8")
            item = np.where(number < self._items, number, often)
            day = number * DAYS // count
            season = 1 + 0.08 * np.sin(2 * np.pi * day / DAYS + self._phase[item])
            price = np.maximum(
                5, np.rint(self._base[item] * season * np.exp(random.normal(0, 0.06, rows)) * 100)
            ).astype("i8")
            sold = (item * 7 + random.integers(0, 4, rows)) % len(CHANNELS)
            arrays = [_encoded(codes[item], values) for codes, values in self.columns.values()]
            arrays += [
                pa.array(LAST_DAY + (day - DAYS + 1).astype("m8[D]"), pa.date32()),
                _encoded(sold.astype("i4"), channels),
                _cents(price),
            ]
            yield pa.record_batch(arrays, names=[*self.columns, "day", "channel", "price"])

    def listings(self, count: int) -> Iterator[Any]:
        """Yield record batches in the order of days; prices move every two months, and each is on offer now and then."""
        random, channels = self._random, pa.array(CHANNELS[:LISTING_CHANNELS])
        listed = min(self._items, max(1, count // (LISTING_CHANNELS * LISTING_WEEKS)))
        co2 = random.integers(20, 900, listed)
        step = np.exp(random.normal(0, 0.05, (listed, LISTING_CHANNELS, LISTING_WEEKS // 8 + 1)))
        for start in range(0, listed * LISTING_CHANNELS * LISTING_WEEKS, _BATCH):
            number = np.arange(start, min(start + _BATCH, listed * LISTING_CHANNELS * LISTING_WEEKS))
            week, place = np.divmod(number, listed * LISTING_CHANNELS)
            item, channel = np.divmod(place, LISTING_CHANNELS)
            usual = np.maximum(5, np.rint(self._base[item] * step[item, channel, week // 8] * 100)).astype("i8")
            on_offer = (item * 5 + channel * 3 + week) % 11 < 2
            price = np.where(on_offer, usual * 4 // 5, usual)
            arrays = [_encoded(codes[item], values) for codes, values in self.columns.values()]
            arrays += [
                pa.array(LAST_DAY + ((week + 1 - LISTING_WEEKS) * 7).astype("m8[D]"), pa.date32()),
                _encoded(channel.astype("i4"), channels),
                *(_cents(amount) for amount in (price, usual, co2[item])),
            ]
            yield pa.record_batch(arrays, names=[*self.columns, *(name for name, _ in _LISTINGS)])


def _distinct(codes: Any, values: Any) -> tuple[Any, Any]:
    """Make a dictionary of distinct values: one with equal ones would be written out in full, row by row."""
    encoded = values.dictionary_encode()
    return np.asarray(encoded.indices)[codes], encoded.dictionary


def _encoded(codes: Any, values: Any) -> Any:
    """Keep only the values that a batch uses, or every batch would carry the whole dictionary."""
    used, positions = np.unique(codes, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(positions.astype("i4")), values.take(pa.array(used)))


def _cents(minor: Any) -> Any:
    # A decimal128 is its integer of cents in 16 bytes, little endian; the upper half of a small positive one is zero.
    halves = np.zeros((len(minor), 2), "<i8")
    halves[:, 0] = minor
    return pa.Array.from_buffers(pa.decimal128(12, 2), len(minor), [None, pa.py_buffer(halves.tobytes())])


def _brand_name(number: int) -> str:
    parts = []
    number += len(SYLLABLES)
    while number:
        number, digit = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[digit])
    return "".join(parts).capitalize()


@click.command(
    epilog="Example: python -m tests.assurance.perf.generate --items 1000000 --observations 10000000 --seed 7"
)
@click.option("--items", default=10_000, show_default=True, type=click.IntRange(1, 100_000_000))
@click.option("--observations", default=100_000, show_default=True, type=click.IntRange(1, 2_000_000_000))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="The same seed gives the same data.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write a Parquet file (and its mapping beside it); load nothing."
)
@data_dir_option
@json_option
def generate(items: int, observations: int, seed: int, out: Path | None) -> None:
    """Generate items, brands, categories and sales, and load them."""
    with tempfile.TemporaryDirectory(prefix="itemindex-") as folder:
        path = out or Path(folder) / "generated.parquet"
        with Progress(console=console, disable=for_programs()) as progress:
            task = progress.add_task("generating", total=observations)
            write(
                path,
                items=items,
                observations=observations,
                seed=seed,
                report_progress=lambda rows: progress.update(task, completed=rows),
            )
        mapping = path.with_suffix(".toml")
        mapping.write_text(MAPPING)
        if out is not None:
            report("written: {out}, and its mapping {mapping}", out=str(out), mapping=str(mapping))
            return
        chosen = settings()
        summary = load_with_bar(chosen, read(mapping), [path])
        if summary.job_id is not None and not for_programs():
            wait_for_index(summary.job_id)
        show_summary(summary)


if __name__ == "__main__":
    run(generate)
