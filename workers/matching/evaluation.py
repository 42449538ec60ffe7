"""Evaluation of matching on labelled pairs: precision, recall and F1."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shared.errors import ItemIndexError
from workers.matching.context import Pairs, contenders, pairs_of
from workers.matching.evaluation_files import LabelledPairs, read_pairs, read_records
from workers.matching.evidence import opposed
from workers.matching.index import MatchIndex
from workers.matching.model import Model
from workers.matching.scoring import Profiles, feature_matrix, fitting
from workers.matching.segment import Array
from workers.matching.supervised import judge


class TooFewExamples(ItemIndexError):
    """The training pairs hold too few matches or non-matches to learn from."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Precision, recall and F1 of what is called a match, over `pairs` pairs of which `matches` are matches."""

    precision: float
    recall: float
    f1: float
    pairs: int
    matches: int
    found: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found.

    `all` counts every pair from the lower bound on, `unattended` those that are linked without a person. End to end,
    `unlisted` counts pairs that were found and are not in the file: unknown, so they count neither way.
    """

    method: str
    bound: float
    all: Measure
    unattended: Measure
    candidates_recall: float
    unlisted: int
    unknown_ids: int
    cross_validated_f1: float | None


@dataclass(frozen=True, slots=True)
class Files:
    """The files of an evaluation."""

    left: Path
    right: Path
    pairs: Path
    train: tuple[Path, ...] = ()


_LEAST_EXAMPLES = 10


def evaluate(files: Files, model: Model, *, end_to_end: bool) -> Evaluation:
    """Judge the pairs of a file, by the model or, with training pairs, by one trained on these."""
    left, right = read_records(files.left, "left"), read_records(files.right, "right")
    asked = read_pairs(files.pairs, left, right)
    examples = [read_pairs(path, left, right) for path in files.train]
    index = MatchIndex.build([*left.values(), *right.values()])
    row = _rows(index)
    nearest = index.nearest(index.rows())
    named = [_places(row, one) for one in (asked, *examples)]
    pairs = pairs_of(
        index,
        np.concatenate([nearest.row, *(place.T.ravel() for place in named)]),
        np.concatenate([nearest.other, *(place[:, ::-1].T.ravel() for place in named)]),
    )
    at = {pair: number for number, pair in enumerate(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))}
    positions = [np.array([at[pair] for pair in map(tuple, place.tolist())]) for place in named]
    candidate = np.zeros(len(pairs.left), bool)
    directed = set(zip(nearest.row.tolist(), nearest.other.tolist(), strict=True))
    candidate[[at[pair] for pair in directed if pair in at and pair[::-1] in directed]] = True
    if examples:
        probabilities, bound, link, score = _supervised(index, pairs, positions[1:], examples)
    else:
        probabilities = fitting(model).probabilities(feature_matrix(index, pairs))
        bound, link, score = model.review, model.link, None
    if end_to_end:
        candidate &= contenders(index, pairs)
        probabilities = np.where(candidate, probabilities, 0.0)
    chosen, labels = probabilities[positions[0]], np.array(asked.labels)
    unattended = chosen >= link
    if not examples:
        unattended &= ~_opposed(index, pairs, positions[0], unattended)
    listed = np.zeros(len(candidate), bool)
    listed[positions[0]] = True
    unlisted = int((candidate & ~listed & (probabilities >= bound)).sum()) if end_to_end else 0
    complete = end_to_end and not asked.labelled
    return Evaluation(
        method="supervised" if examples else "shipped model",
        bound=round(bound, 4),
        all=_measure(chosen >= bound, labels, unlisted if complete else 0),
        unattended=_measure(unattended, labels),
        candidates_recall=round(float(candidate[positions[0]][labels].mean()), 4) if labels.any() else 1.0,
        unlisted=unlisted,
        unknown_ids=asked.unknown + sum(one.unknown for one in examples),
        cross_validated_f1=score,
    )


def _supervised(
    index: MatchIndex, pairs: Pairs, positions: list[Array], examples: list[LabelledPairs]
) -> tuple[Array, float, float, float]:
    """Train on every distinct example; a pair with both labels counts as what most of its rows say, or no match."""
    votes: dict[int, list[bool]] = {}
    for place, one in zip(positions, examples, strict=True):
        for position, label in zip(place.tolist(), one.labels, strict=True):
            votes.setdefault(position, []).append(label)
    known = np.array(sorted(votes))
    labels = np.array([sum(votes[position]) * 2 > len(votes[position]) for position in known.tolist()])
    if min(labels.sum(), (~labels).sum()) < _LEAST_EXAMPLES:
        raise TooFewExamples(f"the training pairs need {_LEAST_EXAMPLES} matches and as many others")
    judged = judge(index, pairs, known, labels)
    return judged.probabilities, judged.bound, judged.link, round(judged.cross_validated, 4)


def _opposed(index: MatchIndex, pairs: Pairs, positions: Array, asked: Array) -> Array:
    """Say of the asked ones among some pairs whether a load would let them wait for a person."""
    profiles, found = Profiles(index), np.zeros(len(positions), bool)
    for at in np.flatnonzero(asked):
        found[at] = bool(opposed(profiles[int(pairs.left[positions[at]])], profiles[int(pairs.right[positions[at]])]))
    return found


def _measure(called: Array, labels: Array, wrong_besides: int = 0) -> Measure:
    right, found, matches = int((called & labels).sum()), int(called.sum()) + wrong_besides, int(labels.sum())
    precision, recall = right / found if found else 0.0, right / matches if matches else 0.0
    f1 = 2 * right / (found + matches) if found + matches else 0.0
    return Measure(round(precision, 4), round(recall, 4), round(f1, 4), len(labels), matches, found)


def _rows(index: MatchIndex) -> dict[str, int]:
    return {index.record(int(row)).key: int(row) for row in index.rows()}


def _places(row: dict[str, int], listed: LabelledPairs) -> Array:
    """Return the rows of pairs; records of the left file were added first and have the smaller ones."""
    return np.array([(row[f"left/{left}"], row[f"right/{right}"]) for left, right in listed.pairs])
