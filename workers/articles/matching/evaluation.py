"""Evaluation of a model on labelled pairs of two record files: precision, recall and F1."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workers.articles.matching.context import CandidatePairs, contenders, has_copies, pairs_of, standings
from workers.articles.matching.evaluation_files import read_pairs, read_records
from workers.articles.matching.evidence import link_bound
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model
from workers.articles.matching.records import MatchRecord
from workers.articles.matching.scoring import features_of, fitting, profiles_of
from workers.articles.matching.segment import Array


@dataclass(frozen=True, slots=True)
class MatchMetrics:
    """Precision, recall and F1 of predicted matches, over `pairs` pairs of which `matches` are matches."""

    precision: float
    recall: float
    f1: float
    pairs: int
    matches: int
    found: int

    @classmethod
    def of(cls, called: Array, labels: Array, wrong_besides: int = 0) -> "MatchMetrics":
        """Measure predicted matches; `wrong_besides` are wrong ones among pairs without a label."""
        right, found, matches = int((called & labels).sum()), int(called.sum()) + wrong_besides, int(labels.sum())
        precision, recall = right / found if found else 0.0, right / matches if matches else 0.0
        f1 = 2 * right / (found + matches) if found + matches else 0.0
        return cls(round(precision, 4), round(recall, 4), round(f1, 4), len(labels), matches, found)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found.

    `all` counts every pair that is linked or that a person is asked about, `unattended` those that are linked without
    one. A person is asked about a pair from `bound` on, if it is the best of one of its records. End to end, `unlisted`
    counts pairs that were found and are not in the file: unknown, so they count neither way.
    """

    all: MatchMetrics
    bound: float
    unattended: MatchMetrics
    candidates_recall: float
    unlisted: int
    unknown_ids: int


@dataclass(frozen=True, slots=True)
class Compared:
    """`pairs`: candidates and listed pairs. `positions`: where the listed ones are among them, in the order given.

    `candidate`: whether each record of a pair is among the nearest of the other.
    """

    index: MatchIndex
    pairs: CandidatePairs
    candidate: Array
    positions: Array


def evaluate(
    left: Path,
    right: Path,
    labelled: Path,
    model: Model,
    *,
    end_to_end: bool,
    report_progress: Callable[[str], None] = lambda stage: None,
) -> Evaluation:
    """Judge the labelled pairs of a file, whose ids are those of two files of records, by a model.

    With `end_to_end` only a pair that is found among all records counts as a match. Raises UnusableFile, UnusableModel.
    """
    report_progress("finding candidates among the records")
    ours, theirs = read_records(left, "left"), read_records(right, "right")
    listed = read_pairs(labelled, ours, theirs)
    compared = compare(ours, theirs, listed.pairs)
    index, pairs, candidate, positions = compared.index, compared.pairs, compared.candidate, compared.positions
    report_progress(f"judging {len(candidate):,} pairs")
    profiles = profiles_of(index, pairs.left, pairs.right)
    standing = standings(index, pairs, np.arange(len(candidate)))
    probabilities = fitting(model).probabilities(features_of(profiles, standing))
    if end_to_end:
        candidate = np.isin(np.arange(len(candidate)), contenders(index, pairs, candidate)[0])
        probabilities = np.where(candidate, probabilities, 0.0)
    asked = ~_outdone(pairs, probabilities) & (probabilities >= model.review)
    offers = has_copies(standing)
    bounds = [link_bound(profiles[at][0], profiles[at][1], model, offers=bool(offers[at])) for at in positions.tolist()]
    linked = probabilities[positions] >= bounds
    labels = np.array(listed.labels)
    unlisted = int(np.delete(candidate & asked, positions).sum()) if end_to_end else 0
    return Evaluation(
        all=MatchMetrics.of(linked | asked[positions], labels, 0 if listed.labelled else unlisted),
        bound=round(model.review, 4),
        unattended=MatchMetrics.of(linked, labels),
        candidates_recall=round(float(candidate[positions][labels].mean()), 4) if labels.any() else 1.0,
        unlisted=unlisted,
        unknown_ids=listed.unknown,
    )


def compare(
    left: Mapping[str, MatchRecord], right: Mapping[str, MatchRecord], listed: Sequence[tuple[str, str]]
) -> Compared:
    """Index the records of two files, by their ids, and find the candidates; `listed` are pairs of ids."""
    records = [*left.values(), *right.values()]
    index = MatchIndex.of_all(records)
    row = index.rows_of(record.key for record in records)
    nearest = index.nearest(index.rows())
    # Records of the left file were added first and have the smaller rows.
    ends = np.array([(row[left[one].key], row[right[other].key]) for one, other in listed])
    pairs = pairs_of(index, np.concatenate([nearest.row, *ends.T]), np.concatenate([nearest.other, *ends.T[::-1]]))
    at = {pair: number for number, pair in enumerate(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))}
    near = set(zip(nearest.row.tolist(), nearest.other.tolist(), strict=True))
    candidate = np.array([near.issuperset((pair, pair[::-1])) for pair in at])
    return Compared(index, pairs, candidate, np.array([at[pair] for pair in map(tuple, ends.tolist())]))


def _outdone(pairs: CandidatePairs, probabilities: Array) -> Array:
    """Say which pairs are the best of neither of their records; the queue asks a person about none of them.

    Copies do not compete with what else their record may be.
    """
    copies = pairs.groups[0] == pairs.groups[1]
    outdone = np.ones(len(probabilities), bool)
    for row in (pairs.left, pairs.right):
        best = np.zeros(int(row.max(initial=-1)) + 1)
        np.maximum.at(best, row[~copies], probabilities[~copies])
        outdone &= ~copies & (probabilities < best[row])
    return outdone
