"""Models of likeness that learn from an index's own decisions: their examples, which are kept, which one is in use."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.articles.index import open_index
from workers.articles.matching.context import pairs_of
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model
from workers.articles.matching.segment import Array
from workers.articles.matching.training import LEAST_OF_LABEL, Learned, label_pairs, learn

SQL = load_queries(__file__, "models.sql")
SHIPPED = "shipped"
LEAST_DECISIONS = 50
_BOUNDS = (0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35)


class UnknownModel(ItemIndexError):
    """No model of the index has this digest, or several have it as their beginning."""


class UnknownIds(ItemIndexError):
    """None of the ids in a file of pairs is of an item in the index."""


class TooFewDecisions(ItemIndexError):
    """The decisions are too few, or too much of one kind, to learn from."""


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A model of the index, as `itemindex matches models` lists it."""

    digest: str
    active: bool
    decisions: int | None
    link_bound: float | None
    created_at: datetime | None
    created_by: str | None


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that was just trained and kept: what it learned from, and what linking by it comes to.

    `link` is the bound from which it links without a person, None where its decisions support none.
    """

    digest: str
    trained_on: dict[str, float | int]
    measured: list[dict[str, float | int]]
    link: float | None


def active(connection: Connection) -> Model:
    """Return the model in use: that of the newest choice that was not undone, or the shipped one."""
    row = connection.execute(SQL.active).fetchone()
    return Model.shipped() if row is None or row[1] is None else Model.decoded(bytes(row[1]))


def list_models(connection: Connection) -> list[KeptModel]:
    """Return the models of the index, the newest first, and the shipped one."""
    row = connection.execute(SQL.active).fetchone()
    used = SHIPPED if row is None or row[1] is None else row[0]
    kept = [KeptModel(one[0], one[0] == used, *one[1:]) for one in connection.execute(SQL.listed)]
    return [*kept, KeptModel(SHIPPED, used == SHIPPED, None, None, None, None)]


def find(connection: Connection, digest: str) -> str:
    """Return the whole digest of a model that is named by its first characters, or `shipped`. Raises UnknownModel."""
    if digest == SHIPPED:
        return SHIPPED
    found = [row[0] for row in connection.execute(SQL.find, (digest,))]
    if len(found) != 1:
        problem = "several models have" if found else "no model has"
        raise UnknownModel(
            f"{problem} a digest that begins so: give at least 6 characters; `itemindex matches models` shows them"
        )
    return str(found[0])


def keep(connection: Connection, learned: Learned, trained_on: dict[str, Any], by: str) -> str:
    """Keep a model and return its digest; the same model is kept once."""
    text = learned.model.encoded()
    digest = hashlib.sha256(text).hexdigest()
    bounds = {name: getattr(learned.model, name) for name in ("link", "link_coded", "link_learned", "review")}
    connection.execute(SQL.keep, (digest, text, Jsonb(trained_on), Jsonb(bounds), by))
    return digest


def pair_of(one: int, other: int) -> tuple[int, int]:
    """Return the items of a pair in one order, so that a pair which was decided from either side is one decision."""
    return min(one, other), max(one, other)


def train(
    connection: Connection,
    decided: Mapping[tuple[int, int], bool],
    match_dir: Path | None,
    by: str,
    *,
    unknown: int = 0,
) -> TrainedModel:
    """Train a model on decided pairs of items, measure it on records that it has not seen, and keep it.

    `unknown`: how many decisions more named no item of the index. Raises TooFewDecisions.
    """
    if len(decided) < LEAST_DECISIONS:
        raise TooFewDecisions(
            f"{len(decided)} decisions are too few to learn from: decide {LEAST_DECISIONS - len(decided)} more pairs"
        )
    learned = learn_from(connection, decided, match_dir)
    link = learned.model.link_learned
    measured = document(learned, sorted({*_BOUNDS, *([] if link is None else [link])}, reverse=True))
    trained_on: dict[str, float | int] = {
        "decisions": len(decided),
        "matches": sum(decided.values()),
        "compared": len(learned.examples.labels),
        "unknown_ids": unknown,
        "ranking": round(learned.ranking, 4),
        "former_ranking": round(learned.former_ranking, 4),
    }
    digest = keep(connection, learned, {**trained_on, "measured": measured}, by)
    return TrainedModel(digest, trained_on, measured, link)


def item_ids(connection: Connection, named: Iterable[str], source: str | None) -> dict[str, int]:
    """Return the items of IIDs, or of a source's own ids."""
    query, values = (SQL.of_iids, (list(named),)) if source is None else (SQL.of_source_ids, (source, list(named)))
    return dict(connection.execute(query, values).fetchall())


def most_doubtful(waiting: Iterable[Mapping[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the pairs whose probability is nearest to one half, no item twice."""
    shown = ("left_iid", "left_name", "right_iid", "right_name", "score")
    chosen: list[dict[str, Any]] = []
    seen: set[str] = set()
    for pair in sorted(waiting, key=lambda pair: (abs(pair["score"] - 0.5), pair["left_iid"], pair["right_iid"])):
        if len(chosen) < count and seen.isdisjoint((pair["left_iid"], pair["right_iid"])):
            chosen.append({name: pair[name] for name in shown})
            seen |= {pair["left_iid"], pair["right_iid"]}
    return chosen


def learn_from(connection: Connection, decided: Mapping[tuple[int, int], bool], match_dir: Path | None) -> Learned:
    """Train a model on decided pairs of items, each with whether the two are one article. Raises TooFewDecisions."""
    index = open_index(connection, match_dir)
    rows = index.rows_of(str(item_id) for pair in decided for item_id in pair)
    labels = {
        (min(left, right), max(left, right)): same
        for (one, other), same in decided.items()
        if (left := rows.get(str(one))) is not None and (right := rows.get(str(other))) is not None
    }
    pairs = pairs_of(index, *_near(index, np.array(sorted({row for pair in labels for row in pair}), np.int64)))
    ends = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    judged = pairs.listed.min(axis=0)
    chosen = np.array([at for at, pair in enumerate(ends) if judged[at] and pair in labels], np.int64)
    same: Array = np.array([labels[int(pairs.left[at]), int(pairs.right[at])] for at in chosen.tolist()], bool)
    if min(same.sum(), (~same).sum()) < LEAST_OF_LABEL:
        raise TooFewDecisions(
            f"of the decided pairs that loads compare, {same.sum()} are one item and {(~same).sum()} are different "
            f"ones: at least {LEAST_OF_LABEL} of either are needed"
        )
    examples = label_pairs(index, pairs, chosen, same)
    missed = sum(labels.values()) - int(same.sum())
    return learn(Model.shipped(), examples, missed)


def _near(index: MatchIndex, rows: Array) -> tuple[Array, Array]:
    """Return who is near whom: for rows, and for all that compete with these."""
    near = index.nearest(rows)
    back = index.nearest(np.setdiff1d(near.other, near.row))
    return np.concatenate([near.row, back.row]), np.concatenate([near.other, back.other])


def document(learned: Learned, probabilities: Iterable[float]) -> list[dict[str, float | int]]:
    """Return what linking from each probability on comes to, with the 95 % intervals."""
    found = (learned.at(probability) for probability in probabilities)
    return [
        {
            "bound": round(one.bound, 4),
            "right": one.right,
            "linked": one.found,
            "precision": round(one.precision.share, 4),
            "precision_low": round(one.precision.low, 4),
            "precision_high": round(one.precision.high, 4),
            "recall": round(one.recall.share, 4),
            "recall_low": round(one.recall.low, 4),
            "recall_high": round(one.recall.high, 4),
        }
        for one in found
    ]
