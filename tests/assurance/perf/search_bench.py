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

from shared.index.identifiers import LAYOUT
from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Item, SearchQuery
from shared.search.paging import find
from shared.search.suggesting import Suggester
from tests.assurance.perf.search_sample import ADJECTIVES, NOUNS, SEED, documents
from workers.search.build import build

# Of the data_version that the index is of.
_MOMENT = "2026-01-01 00:00:00+00"
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
    if found is None or found.items != items:
        started = time.perf_counter()
        with Progress(console=console, disable=console is None, transient=True) as progress:
            task = progress.add_task(f"Building an index of {items:,} items", total=items)
            build(documents(items), directory, 1, lambda done: progress.update(task, completed=done), _MOMENT, LAYOUT)
        seconds = time.perf_counter() - started
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        found = layout.newest(directory)
    assert found is not None
    size = sum(path.stat().st_size for path in directory.rglob("*"))
    return Report(items, size, seconds, rss, _measure(SearchIndex(directory, found), queries))


def _measure(index: SearchIndex, queries: int) -> list[dict[str, Any]]:
    rng = random.Random(SEED)
    rows = []
    for kind, make in kinds(index, rng).items():
        times, found = [], 0
        for question, wanted in [make() for _ in range(queries)]:
            started = time.perf_counter()
            page = find(index, SearchQuery(q=question))
            times.append((time.perf_counter() - started) * 1000)
            found += any(wanted in _text(hit.item) for hit in page.hits)
        rows.append(_row(kind, times, found / queries))
    return [*rows, _suggestions(index, queries, rng)]


def _suggestions(index: SearchIndex, queries: int, rng: random.Random) -> dict[str, Any]:
    """Time suggestions for the first letters of words, after the lists of names were made."""
    suggester, times, found = Suggester(index), [], 0
    suggester.suggest("a", 1)
    for word in rng.choices(_LONG, k=queries):
        typed = word[: rng.randint(1, 4)]
        started = time.perf_counter()
        found += bool(suggester.suggest(typed, 8))
        times.append((time.perf_counter() - started) * 1000)
    return _row("suggestions", times, found / queries)


def _row(kind: str, times: list[float], found: float) -> dict[str, Any]:
    p50, p99 = np.percentile(times, [50, 99])
    return {"kind": kind, "p50_ms": round(p50, 2), "p99_ms": round(p99, 2), "found": f"{found:.0%}"}


def _text(item: Item) -> str:
    return f"{item.iid}\n{item.name}\n{item.product_type}".lower()


def kinds(index: SearchIndex, rng: random.Random) -> dict[str, Callable[[], tuple[str, str]]]:
    """Return what makes a question of each kind, and the text that a hit on its first page should have."""

    def item() -> Item:
        return index.read(rng.randrange(index.items))[0]

    def brand() -> str:
        found = item().brand
        return found.name.lower() if found else ""

    def some(words: list[str], most: int) -> str:
        return rng.choice(words[:most])

    def plain(make: Callable[[], str]) -> Callable[[], tuple[str, str]]:
        return lambda: (made := make(), made.lower().split()[-1])

    def mistyped(make: Callable[[], str]) -> Callable[[], tuple[str, str]]:
        return lambda: (_mistype(wanted := make(), rng), wanted)

    return {
        "common word": plain(lambda: some(NOUNS + ADJECTIVES, 15)),
        "brand": plain(brand),
        "two common words": plain(lambda: f"{some(ADJECTIVES, 10)} {some(NOUNS, 10)}"),
        "three common words": plain(lambda: f"{some(ADJECTIVES, 6)} {some(ADJECTIVES, 6)} {some(NOUNS, 6)}"),
        "brand and type": plain(lambda: f"{brand()} {item().product_type}"),
        "rare word": plain(lambda: item().name.split()[-1]),
        "whole name": plain(lambda: item().name),
        "nothing like it": lambda: ("".join(rng.choices("qxzjvkw", k=7)), ""),
        "mistyped word": mistyped(lambda: rng.choice(_LONG)),
        "mistyped brand": mistyped(lambda: _of_four(brand)),
        "two mistyped words": lambda: (f"{_mistype(rng.choice(_LONG), rng)} {_mistype(some(_LONG, 40), rng)}", ""),
        "prefix of 1": plain(lambda: rng.choice(_LONG)[:1]),
        "prefix of 2": plain(lambda: rng.choice(_LONG)[:2]),
        "prefix of 3-4": plain(lambda: rng.choice(_LONG)[: rng.choice((3, 4))]),
        "word and prefix of 1": plain(lambda: f"{some(ADJECTIVES, 10)} {rng.choice(NOUNS)[:1]}"),
        "word and prefix of 2": plain(lambda: f"{some(ADJECTIVES, 10)} {rng.choice(NOUNS)[:2]}"),
        "two brands": plain(lambda: f"{brand()} {brand()}"),
        "IID prefix": plain(lambda: item().iid[: rng.randrange(4, 16)]),
        "IID": plain(lambda: item().iid),
    }


def _of_four(make: Callable[[], str]) -> str:
    """Make words until one is long enough that it may be mistyped by a letter less."""
    while len(word := make()) < 5:
        pass
    return word


def _mistype(word: str, rng: random.Random) -> str:
    """Leave a letter out, put one in, change one or swap two; never the first one."""
    place = rng.randrange(1, len(word) - 1)
    before, at, after = word[:place], word[place], word[place + 1 :]
    letter = rng.choice(_LETTERS)
    return rng.choice(
        [before + after, before + letter + at + after, before + letter + after, before + after[0] + at + after[1:]]
    )
