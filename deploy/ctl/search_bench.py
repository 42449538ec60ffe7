"""How long searches take in an index of made-up items, by kind of query. Nothing is cached between them."""

import random
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from deploy.ctl.search_sample import ADJECTIVES, NOUNS, SEED, documents
from edge.index.search_index import SearchIndex
from edge.index.search_pages import find
from shared.search import layout
from shared.search.model import Item, Search
from workers.search.build import build

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LONG = [word for word in NOUNS + ADJECTIVES if len(word) >= 5]


@dataclass(frozen=True)
class Report:
    """What was measured. Times in milliseconds, of one thread."""

    items: int
    index_bytes: int
    build_seconds: float | None
    build_rss_bytes: int | None
    rows: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Return everything."""
        return asdict(self)

    def summary(self) -> str:
        """Return the sentence above the table."""
        size = f"{self.items:,} items, index of {self.index_bytes / 1e6:,.0f} MB"
        if self.build_seconds is None or self.build_rss_bytes is None:
            return f"{size}, built before\n"
        return f"{size}, built in {self.build_seconds:,.0f} s with at most {self.build_rss_bytes / 1e6:,.0f} MB\n"


def run(items: int, queries: int, directory: Path | None, console: Console | None) -> Report:
    """Build an index where there is none of that size, and time every kind of query in it."""
    if directory is not None:
        return _run(items, queries, directory, console)
    with TemporaryDirectory(prefix="itemindex-bench-") as temporary:
        return _run(items, queries, Path(temporary), console)


def _run(items: int, queries: int, directory: Path, console: Console | None) -> Report:
    found = layout.newest(directory)
    seconds = rss = None
    if found is None or found[1].items != items:
        started = time.perf_counter()
        with Progress(console=console, disable=console is None, transient=True) as progress:
            task = progress.add_task(f"Building an index of {items:,} items", total=items)
            build(documents(items), directory, 1, lambda done: progress.update(task, completed=done))
        seconds = time.perf_counter() - started
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        found = layout.newest(directory)
    assert found is not None
    size = sum(path.stat().st_size for path in found[0].rglob("*"))
    return Report(items, size, seconds, rss, _measure(SearchIndex(*found), queries))


def _measure(index: SearchIndex, queries: int) -> list[dict[str, Any]]:
    rng = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    rows = []
    for kind, make in _kinds(index, rng).items():
        times, hits = [], 0
        for question in [make() for _ in range(queries)]:
            started = time.perf_counter()
            page = find(index, Search(q=question))
            times.append((time.perf_counter() - started) * 1000)
            hits += bool(page.hits)
        p50, p99 = np.percentile(times, [50, 99])
        rows.append({"kind": kind, "p50_ms": round(p50, 2), "p99_ms": round(p99, 2), "found": f"{hits / queries:.0%}"})
    return rows


def _kinds(index: SearchIndex, rng: random.Random) -> dict[str, Callable[[], str]]:
    def item() -> Item:
        return index.read(rng.randrange(index.items))[0]

    def brand() -> str:
        found = item().brand
        return found.name if found else ""

    def some(words: list[str], most: int) -> str:
        return rng.choice(words[:most])

    return {
        "common word": lambda: some(NOUNS + ADJECTIVES, 15),
        "brand": brand,
        "two common words": lambda: f"{some(ADJECTIVES, 10)} {some(NOUNS, 10)}",
        "three common words": lambda: f"{some(ADJECTIVES, 6)} {some(ADJECTIVES, 6)} {some(NOUNS, 6)}",
        "brand and type": lambda: f"{brand()} {item().product_type}",
        "rare word": lambda: item().name.split()[-1],
        "whole name": lambda: item().name,
        "nothing like it": lambda: "".join(rng.choices("qxzjvkw", k=7)),
        "mistyped word": lambda: _mistype(rng.choice(_LONG), rng),
        "mistyped brand": lambda: _mistype(brand(), rng),
        "two mistyped words": lambda: f"{_mistype(rng.choice(_LONG), rng)} {_mistype(rng.choice(_LONG), rng)}",
        "prefix of 1": lambda: rng.choice(_LONG)[:1],
        "prefix of 2": lambda: rng.choice(_LONG)[:2],
        "prefix of 3-4": lambda: rng.choice(_LONG)[: rng.choice((3, 4))],
        "word and prefix of 1": lambda: f"{some(ADJECTIVES, 10)} {rng.choice(NOUNS)[:1]}",
        "word and prefix of 2": lambda: f"{some(ADJECTIVES, 10)} {rng.choice(NOUNS)[:2]}",
        "two brands": lambda: f"{brand()} {brand()}",
        "IID prefix": lambda: item().iid[: rng.randrange(4, 16)],
        "IID": lambda: item().iid,
    }


def _mistype(word: str, rng: random.Random) -> str:
    """Leave a letter out, put one in, change one or swap two; never the first one."""
    place = rng.randrange(1, len(word) - 1)
    before, at, after = word[:place], word[place], word[place + 1 :]
    letter = rng.choice(_LETTERS)
    return rng.choice(
        [before + after, before + letter + at + after, before + letter + after, before + after[0] + at + after[1:]]
    )
