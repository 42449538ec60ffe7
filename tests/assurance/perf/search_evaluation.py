"""How good the order of hits is, by people's judgements (NDCG@10), with the product's own index and settings."""

import csv
import gzip
import io
import math
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import msgspec

from shared.errors import ConfigurationError
from shared.index.iid import mint
from shared.search.index import SearchIndex
from shared.search.model import Document, Item, SearchQuery
from shared.search.paging import find
from shared.search.query_words import WEIGHTS, Weights
from shared.text import query_words
from workers.search.build import build

DEPTH = 10
FOLDS = 10
SOURCE = "judged"
_COLUMNS = {"query", "product_title", "product_description", "median_relevance"}
# Around the chosen weights: what they would be if they were chosen without the queries that they are judged by.
_GRID = {"description": (0.1, 0.2, 0.3), "word_met": (4.0, 8.0, 12.0), "one_edit": (0.3, 0.5, 0.7)}

Judgements = dict[str, dict[str, int]]
Scores = dict[str, float]


@dataclass(frozen=True)
class Judged:
    """A file of judgements. Products are items named by their IID; a grade is 1 (off) to 4 (perfect)."""

    documents: list[Document]
    grades: Judgements


@dataclass(frozen=True)
class Verdict:
    """What came out, as means over all queries."""

    documents: int
    queries: int
    judgements: int
    ndcg: float
    held_out: float
    sqlite: float

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines of the table."""
        return [
            {"order of hits": "Item Index", f"NDCG@{DEPTH}": f"{self.ndcg:.4f}"},
            {
                "order of hits": f"Item Index, weights chosen on other queries ({FOLDS} folds)",
                f"NDCG@{DEPTH}": f"{self.held_out:.4f}",
            },
            {"order of hits": "SQLite FTS5, BM25 of any word, stemmed", f"NDCG@{DEPTH}": f"{self.sqlite:.4f}"},
        ]

    def as_json(self) -> dict[str, Any]:
        """Return everything, rounded for reading."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def judge(path: Path) -> Verdict:
    """Build an index of the judged products, ask it all the queries, and compare."""
    judged = read(path)
    with TemporaryDirectory(prefix="itemindex-judge-") as directory:
        index = SearchIndex(Path(directory), build(judged.documents, Path(directory), 1))
        scores = evaluate(judged.grades, partial(ranked, index))
        held = fmean(held_out(index, judged.grades).values())
    with closing(sqlite3.connect(":memory:")) as database:
        reference = fmean(evaluate(judged.grades, sqlite_ranking(database, judged.documents)).values())
    return Verdict(
        documents=len(judged.documents),
        queries=len(judged.grades),
        judgements=sum(map(len, judged.grades.values())),
        ndcg=fmean(scores.values()),
        held_out=held,
        sqlite=reference,
    )


def read(path: Path) -> Judged:
    """Read a file of judgements; a pair that was judged twice keeps its better grade."""
    documents: dict[str, Document] = {}
    grades: Judgements = {}
    with _open(path) as file:
        reader = csv.DictReader(file)
        if missing := _COLUMNS - set(reader.fieldnames or ()):
            raise ConfigurationError(f"{path.name} lacks the column {', '.join(sorted(missing))}")
        for row in reader:
            title, description = row["product_title"], row["product_description"]
            iid = mint(SOURCE, f"{title}\0{description}").iid
            documents[iid] = Document(Item(iid, title, None, None, None), [], description or None)
            of_query = grades.setdefault(row["query"], {})
            of_query[iid] = max(of_query.get(iid, 1), int(float(row["median_relevance"])))
    return Judged([documents[iid] for iid in sorted(documents)], grades)


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.GzipFile(path), encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def ranked(index: SearchIndex, query: str, weights: Weights = WEIGHTS) -> list[str]:
    """Return the IIDs that a page of the product shows for a query."""
    return [hit.item.iid for hit in find(index, SearchQuery(q=query, limit=DEPTH), weights).hits]


def evaluate(grades: Judgements, rank: Callable[[str], list[str]]) -> Scores:
    """Return the NDCG of each query."""
    return {query: ndcg(rank(query), of_query) for query, of_query in grades.items()}


def ndcg(iids: Iterable[str], grades: dict[str, int]) -> float:
    """Return the gain of an order over that of the best possible one; an item without a judgement gains nothing."""
    found = _gain(grades.get(iid, 1) for iid in iids)
    best = _gain(sorted(grades.values(), reverse=True))
    return found / best if best else 0.0


def _gain(grades: Iterable[int]) -> float:
    return math.fsum(
        (2 ** (grade - 1) - 1) / math.log2(place + 2) for place, grade in zip(range(DEPTH), grades, strict=False)
    )


def held_out(index: SearchIndex, grades: Judgements) -> Scores:
    """Return the NDCG of each query with the weights that are best for the queries of the other folds."""
    choices = [
        msgspec.structs.replace(WEIGHTS, **dict(zip(_GRID, values, strict=True))) for values in product(*_GRID.values())
    ]
    of_choice = [evaluate(grades, partial(ranked, index, weights=chosen)) for chosen in choices]
    queries = sorted(grades)
    held: Scores = {}
    for fold in range(FOLDS):
        inside = set(queries[fold::FOLDS])
        best = max(of_choice, key=lambda scores: sum(scores[query] for query in queries if query not in inside))
        held.update((query, best[query]) for query in inside)
    return held


def sqlite_ranking(database: sqlite3.Connection, documents: list[Document]) -> Callable[[str], list[str]]:
    """Return the reference: SQLite FTS5 over title and description, any word of the query."""
    database.execute("CREATE VIRTUAL TABLE t USING fts5(iid UNINDEXED, title, description, tokenize = 'porter')")
    rows = ((document.item.iid, document.item.name, document.description or "") for document in documents)
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)

    def rank(query: str) -> list[str]:
        anyone = " OR ".join(f'"{word}"' for word in query_words(query))
        found = database.execute("SELECT iid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (anyone, DEPTH))
        return [iid for (iid,) in found]

    return rank
