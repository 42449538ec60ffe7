"""Tables matched against the index: what is called a match, what is found, and how long it takes.

`python -m tests.assurance.judges.tables /…/er_abt_buy /…/er_walmart_amazon` loads the right records of each folder into a new
database and has a worker match the left ones in batches, as `ixc match` sends them. A line of JSON for each folder.
The truth of a match is known where its pair is labelled, or, of records that are listed once, where one of the two has
another true pair; of sets that list a product several times only the labelled ones count.
"""

import json
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from psycopg.types.json import Jsonb

from shared.articles.table_rows import MatchedTable, RowCandidates, TableRow
from shared.jobs.contract import MATCH_TABLE
from shared.jobs.contract import SQL as JOBS
from shared.objects.directory import DirectoryStore
from shared.settings.settings import Settings
from shared.uncertainty.stated import wilson
from tests.assurance.judges import matching
from tests.support.database import execute
from tests.support.servers import Servers
from tests.support.workers import worker
from workers.articles.matching.evaluation_files import read_labels, read_records

Pair = tuple[str, str]


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--batch", default=100, show_default=True, type=click.IntRange(1), help="Rows of a batch.")
@click.option("--rows", default=10_000, show_default=True, type=click.IntRange(1), help="Match this many rows at most.")
@click.option(
    "--threshold", default=50.0, show_default=True, help="The caller's own: take the best from this score on."
)
@click.option("--least", default=0.0, show_default=True, help="Fail where a lower share of labelled matches is right.")
def judge(folders: tuple[Path, ...], batch: int, rows: int, threshold: float, least: float) -> None:
    """Match the left records of folders with the right ones. One line of JSON each."""
    with tempfile.TemporaryDirectory(prefix="itemindex-judge-") as name, Servers.running(Path(name)) as servers:
        for folder in folders:
            with servers.fresh(Path(name)) as settings:
                figures = _judged(settings, folder, Path(name), batch, rows, threshold)
                click.echo(json.dumps(figures))
                if figures["right"] < least * figures["labelled"] or not figures["recall_of_candidates"]:
                    raise click.ClickException(
                        f"{folder.name}: fewer matches are right than {least:.0%}, or none is found"
                    )


def _judged(settings: Settings, folder: Path, scratch: Path, batch: int, rows: int, threshold: float) -> dict[str, Any]:
    matching.load_side(settings, folder, scratch, "right")
    listed = list(read_records(folder / "left.csv", "left").items())[:rows]
    table = [TableRow(one.name, one.brand, one.mpn) for _, one in listed]
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    found = list(_match(settings, table, batch))
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    ids = dict(execute(settings, "SELECT i.iid, s.source_item_id FROM items i JOIN item_sources s ON s.item_id = i.id"))
    labels = {pair[:2]: pair[2] for path in sorted(folder.glob("pairs_*.csv")) for pair in read_labels(path)}
    keys = [key for key, _ in listed]
    truth = {pair for pair, same in labels.items() if same and pair[0] in set(keys)}
    matched = {
        (key, ids[best.iid]) for key, row in zip(keys, found, strict=True) for best in row.candidates if best.match
    }
    chosen = {
        (key, ids[row.candidates[0].iid])
        for key, row in zip(keys, found, strict=True)
        if row.candidates and 100 * row.candidates[0].score >= threshold
    }
    listed_pairs = {(key, ids[one.iid]) for key, row in zip(keys, found, strict=True) for one in row.candidates}
    labelled, known = matched & labels.keys(), _known(matched, labels, truth)
    return {
        "set": folder.name,
        "rows": len(table),
        "items": len(ids),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "matches": len(matched),
        "right": len(matched & truth),
        "labelled": len(labelled),
        "precision_of_labelled": [round(share, 4) for share in wilson(len(labelled & truth), len(labelled))],
        "of_known_truth": len(known),
        "precision_of_known_truth": [round(share, 4) for share in wilson(len(known & truth), len(known))],
        "recall_of_matches": round(len(matched & truth) / len(truth), 4),
        "recall_at_threshold": round(len(chosen & truth) / len(truth), 4),
        "recall_of_candidates": round(len(listed_pairs & truth) / len(truth), 4),
    }


def _known(matched: set[Pair], labels: Mapping[Pair, bool], truth: set[Pair]) -> set[Pair]:
    """Return the pairs whose truth is known: labelled, or one of the records has another true pair."""
    lefts, rights = {left for left, _ in truth}, {right for _, right in truth}
    return {pair for pair in matched if pair in labels or pair[0] in lefts or pair[1] in rights}


def _match(settings: Settings, table: Sequence[TableRow], batch: int) -> Iterator[RowCandidates]:
    """Yield the candidates of each row, by a job for each batch."""
    runner, store = worker(settings), DirectoryStore(settings.results_dir)
    for start in range(0, len(table), batch):
        parameters = Jsonb({"rows": msgspec.to_builtins(table[start : start + batch])})
        values = (MATCH_TABLE.name, MATCH_TABLE.queue, None, parameters, str(start), 1, 1)
        [(job, *_)] = execute(settings, JOBS.join, *values)
        assert runner.run(job) == "succeeded"
        [(manifest,)] = execute(settings, "SELECT result FROM jobs WHERE id = $1", job)
        reader = store.open(manifest["key"])
        yield from msgspec.json.decode(reader.read(0, manifest["bytes"]), type=MatchedTable).data
        reader.close()
    runner.close()


if __name__ == "__main__":
    judge()
