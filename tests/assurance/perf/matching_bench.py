"""How long linking takes, and how much memory: new items against an index. Prints a table.

`python -m tests.assurance.perf.matching_bench --old 1000000 --new 100000`: invented articles with brand, series, model number,
colour and size; half of the new ones are in the index, written by another shop. Ten of them are the first load.

With `--service` both shops are loaded as a deployment does it, into embedded servers. Measured are the linking step of each
load, which finds and stores links and the articles that follow from them, and the load. 1,000,000 need some 4 GB of disk.

The memory of a step is the most that this process and all that it started had together, asked for every 50 ms, or less
often where asking would take more than a tenth of the time: the sum of their proportional set sizes, where a page that
several share counts once, with the pages of mapped files.
"""

import argparse
import csv
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from tests.support.world_words import ADJECTIVES, COLOURS, FEATURES, GOODS, SYLLABLES
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.matcher import Matcher
from workers.articles.matching.model import Model
from workers.articles.matching.records import MatchRecord

_EVERY_S = 0.05
_MAPPING = """
source = "{shop}"
title = "The {shop} shop"
license = "CC0-1.0"
[item]
id = "id"
name = "name"
brand = "brand"
category = ["category"]
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=int, default=1_000_000)
    parser.add_argument("--new", type=int, default=100_000)
    parser.add_argument("--service", action="store_true", help="load into a database; --new 10000 is the aim's load")
    arguments = parser.parse_args()
    if arguments.service:
        _loads(arguments.old, arguments.new)
        return
    with tempfile.TemporaryDirectory(prefix="itemindex-matching-") as folder:
        directory = Path(folder) / "index"
        _measured("build the index and write it", arguments.old, lambda: _in_child(directory, arguments.old))
        index = _measured("open it", arguments.old, lambda: MatchIndex.open(directory))
        matcher = Matcher(Model.shipped(), index)
        fresh = list(_fresh(arguments.old, arguments.new))
        for name, batch in (("a load of ten", fresh[:10]), ("a large load", fresh[10:])):
            _measured(f"{name}: add", len(batch), lambda batch=batch: index.add(batch))
            linkage = _measured(f"{name}: link", len(batch), lambda batch=batch: matcher.link(one.key for one in batch))
            print(f"    {len(linkage.touched):,} records touched, {len(linkage.links):,} links")


def _loads(old: int, new: int) -> None:
    """Load the old shop, then the new one's records: ten, for which the index is made, then all others."""
    # Only here: each process that judges imports this module again, as it does a deployment's command, which is small.
    from tests.support.servers import Servers
    from workers.ingest import mapping
    from workers.ingest.load.linking import Linking
    from workers.ingest.load.load import load

    fresh = list(_fresh(old, new))
    numbered = (_record(number, "old") for number in range(old))
    with tempfile.TemporaryDirectory(prefix="itemindex-matching-") as name, Servers.running(Path(name)) as servers:
        with servers.fresh(Path(name)) as settings:
            for shop, records in (("old", numbered), ("new", fresh[:10]), ("new", fresh[10:])):
                described, file = Path(name) / f"{shop}.toml", Path(name) / f"{shop}.csv"
                described.write_text(_MAPPING.format(shop=shop))
                count, link = _write(file, records), Linking.link

                def measured(linking: Linking, *rest: Any, count: int = count, link: Any = link) -> None:
                    _measured("its linking", count, lambda: link(linking, *rest))

                began = time.perf_counter()
                with patch.object(Linking, "link", measured):
                    load(settings, mapping.read(described), [file], merges_allowed=True)
                print(f"{'the whole load':28} {count:>9,} records {time.perf_counter() - began:8.2f} s", flush=True)


def _write(file: Path, records: Iterable[MatchRecord]) -> int:
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(("id", "name", "brand", "category"))
        return sum(1 for one in records if writer.writerow((one.key, one.name, one.brand, one.category)))


def _fresh(old: int, new: int) -> Iterable[MatchRecord]:
    return (_record(number, "new") for number in range(old - new // 2, old + new // 2))


def _in_child(directory: Path, count: int) -> None:
    """Build in another process, so that its memory does not count as the load's."""
    child = multiprocessing.get_context("spawn").Process(target=_build, args=(directory, count))
    child.start()
    child.join()
    if child.exitcode:
        raise SystemExit("the index was not built")


def _build(directory: Path, count: int) -> None:
    MatchIndex.of_all(_record(number, "old") for number in range(count)).save(directory)


def _measured(what: str, count: int, act: Callable[[], Any]) -> Any:
    """Do something; print how long it took, its CPU here and in its children, and the most memory of all together."""
    ours, theirs = multiprocessing.Pipe()
    watch = multiprocessing.get_context("spawn").Process(target=_watch, args=(os.getpid(), theirs))
    watch.start()
    ours.recv()
    began, before = time.perf_counter(), _used(watch.pid)
    result = act()
    wall, (own, children) = time.perf_counter() - began, _used(watch.pid)
    own, children = own - before[0], children - before[1]
    ours.send(None)
    peak = ours.recv() / 1e6
    watch.join()
    print(
        f"{what:28} {count:>9,} records {wall:8.2f} s, CPU {own:7.2f} + {children:7.2f} s, peak {peak:5.0f} MB",
        flush=True,
    )
    return result


def _watch(process: int, pipe: Connection) -> None:
    """Send the most memory of a process and its descendants, without this one, when the other end asks for it."""
    peak, main, asked, took = 0, psutil.Process(process), False, 0.0
    pipe.send(None)
    while not asked:
        asked = pipe.poll(max(_EVERY_S, 10 * took))
        began = time.perf_counter()
        others = [one for one in (main, *main.children(recursive=True)) if one.pid != os.getpid()]
        peak = max(peak, sum(map(_share, others)))
        took = time.perf_counter() - began
    pipe.send(peak)


def _share(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:  # it has ended
        return 0


def _used(watch: int | None) -> tuple[float, float]:
    """Return the CPU seconds of this process and of all that it started, such as servers, without the watch's."""
    own = psutil.Process()
    ended = own.cpu_times()
    others = [one.cpu_times() for one in own.children(recursive=True) if one.pid != watch]
    times = [one.user + one.system + one.children_user + one.children_system for one in others]
    return ended.user + ended.system, ended.children_user + ended.children_system + sum(times)


def _record(number: int, source: str) -> MatchRecord:
    """Describe article `number` as a source would: the same article for the same number, words its own."""
    article, shop = random.Random(f"article {number}"), random.Random(f"{source} {number}")
    brand = "".join(article.choice(SYLLABLES) for _ in range(3))
    series = "".join(article.choice(SYLLABLES) for _ in range(3))
    code = f"{article.choice('abcdefgh')}{article.choice('klmnoprst')}-{article.randint(100, 99999)}"
    noun = article.choice(article.choice(list(GOODS.values())))
    words = [article.choice(ADJECTIVES), noun, article.choice(COLOURS), f"{article.choice((10, 20, 32, 50))} cm"]
    words += article.sample(FEATURES, 2)
    said = [word for word in words if shop.random() > 0.2]
    name = " ".join([brand, series, *said, code if shop.random() < 0.7 else code.replace("-", "")])
    return MatchRecord(f"{source}/{number}", source, name, brand=brand, category=noun, price=20.0 + number % 400)


if __name__ == "__main__":
    main()
