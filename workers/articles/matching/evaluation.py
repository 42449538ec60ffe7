"""Evaluation of matching on labelled pairs: precision, recall and F1."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workers.articles.matching.context import Pairs, contenders
from workers.articles.matching.evaluation_pairs import compare
from workers.articles.matching.evidence import link_bound
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.model import Model
from workers.articles.matching.scoring import Profiles, feature_matrix, fitting
from workers.articles.matching.segment import Array
from workers.articles.matching.supervised import judge


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

    `all` counts every pair that is linked or that a person is asked about, `unattended` those that are linked without
    one. A person is asked about a pair from the lower bound on, by the shipped model only if it is the best of one of
    its records. End to end, `unlisted` counts pairs that were found and are not in the file: unknown, so they count
    neither way.
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


def evaluate(
    files: Files, model: Model, *, end_to_end: bool, report_progress: Callable[[str], None] = lambda stage: None
) -> Evaluation:
    """Judge the pairs of a file, by the model or, with training pairs, by one trained on these."""
    report_progress("finding candidates among the records")
    compared = compare(files.left, files.right, (files.pairs, *files.train))
    index, pairs, candidate = compared.index, compared.pairs, compared.candidate
    labelled_pairs, positions, trained = compared.listed[0], compared.positions[0], bool(files.train)
    report_progress(f"{'training and ' if trained else ''}judging {len(candidate):,} pairs")
    if trained:
        known, labels = compared.examples(range(1, len(compared.listed)))
        judged = judge(index, pairs, known, labels)
        probabilities, bound, score = judged.probabilities, judged.bound, judged.cross_validated
        links_from: Array | float = judged.link
    else:
        probabilities = fitting(model).probabilities(feature_matrix(index, pairs))
        bound, score = model.review, None
        links_from = _link_bounds(index, pairs, positions, model)
    if end_to_end:
        candidate = np.isin(np.arange(len(candidate)), contenders(index, pairs, candidate)[0])
        probabilities = np.where(candidate, probabilities, 0.0)
    asked = np.full(len(candidate), trained) | ~_outdone(pairs, probabilities)
    chosen, labels = probabilities[positions], np.array(labelled_pairs.labels)
    listed = np.zeros(len(candidate), bool)
    listed[positions] = True
    unlisted = int((candidate & ~listed & asked & (probabilities >= bound)).sum()) if end_to_end else 0
    linked = chosen >= links_from
    complete = end_to_end and not labelled_pairs.labelled
    return Evaluation(
        method="supervised" if trained else "shipped model",
        bound=round(bound, 4),
        all=_measure(linked | (asked[positions] & (chosen >= bound)), labels, unlisted if complete else 0),
        unattended=_measure(linked, labels),
        candidates_recall=round(float(candidate[positions][labels].mean()), 4) if labels.any() else 1.0,
        unlisted=unlisted,
        unknown_ids=sum(one.unknown for one in compared.listed),
        cross_validated_f1=None if score is None else round(score, 4),
    )


def _outdone(pairs: Pairs, probabilities: Array) -> Array:
    """Say which pairs are the best of neither of their records; the queue asks a person about none of them."""
    outdone = np.ones(len(probabilities), bool)
    for row in (pairs.left, pairs.right):
        best = np.zeros(int(row.max(initial=-1)) + 1)
        np.maximum.at(best, row, probabilities)
        outdone &= probabilities < best[row]
    return outdone


def _link_bounds(index: MatchIndex, pairs: Pairs, positions: Array, model: Model) -> Array:
    """Return from which probability on a load would link each of these pairs without a person."""
    profiles = Profiles(index)
    ends = zip(pairs.left[positions].tolist(), pairs.right[positions].tolist(), strict=True)
    return np.array([link_bound(profiles[left], profiles[right], model) for left, right in ends])


def _measure(called: Array, labels: Array, wrong_besides: int = 0) -> Measure:
    right, found, matches = int((called & labels).sum()), int(called.sum()) + wrong_besides, int(labels.sum())
    precision, recall = right / found if found else 0.0, right / matches if matches else 0.0
    f1 = 2 * right / (found + matches) if found + matches else 0.0
    return Measure(round(precision, 4), round(recall, 4), round(f1, 4), len(labels), matches, found)
