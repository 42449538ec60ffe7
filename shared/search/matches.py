"""Documents that were found with their scores, and the best of them over all segments of an index."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared.search.live_segment import LiveSegment
from shared.search.segment import Numbers

Scores = NDArray[np.float64]


class Matches(NamedTuple):
    """Documents of one segment with their scores."""

    segment: LiveSegment
    documents: Numbers
    scores: Scores


class Best(NamedTuple):
    """Numbers of documents in the whole index with their scores, best first, equal scores by IID."""

    numbers: NDArray[np.int64]
    scores: Scores


def best(by_segment: Sequence[Matches], count: int) -> Best:
    """Return the best documents of all segments."""
    chosen = [_best(matches, count) for matches in by_segment if len(matches.documents)]
    if not chosen:
        return Best(np.zeros(0, np.int64), np.zeros(0))
    numbers = np.concatenate([matches.documents.astype(np.int64) + matches.segment.base for matches in chosen])
    scores = np.concatenate([matches.scores for matches in chosen])
    if len(chosen) > 1:
        iids = np.concatenate([matches.segment.iids(matches.documents) for matches in chosen])
        order = np.lexsort((iids, -scores))[:count]
        numbers, scores = numbers[order], scores[order]
    return Best(numbers, scores)


def best_by_segment(by_segment: Sequence[Matches], count: int) -> Sequence[Matches]:
    """Return the best documents of all segments in no order, those of each segment."""
    chosen = [top(matches, count) for matches in by_segment]
    if sum(len(matches.documents) for matches in chosen) <= count:
        return chosen
    ranked = best(chosen, count)
    return [_of_segment(ranked, matches.segment) for matches in chosen]


def _of_segment(ranked: Best, segment: LiveSegment) -> Matches:
    mine = (ranked.numbers >= segment.base) & (ranked.numbers < segment.base + segment.items)
    return Matches(segment, (ranked.numbers[mine] - segment.base).astype(np.uint32), ranked.scores[mine])


def top(matches: Matches, count: int) -> Matches:
    """Return the best documents of a segment in no order: of the highest scores, of equal scores the first IIDs."""
    segment, documents, scores = matches
    if len(scores) <= count:
        return matches
    # Not numpy's partition: where many scores are equal, as here, it takes ten times as long as to sort them.
    least = np.sort(scores)[len(scores) - count]
    above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    first = np.argsort(segment.ranks(documents[equal]))[: count - len(above)]
    chosen = np.concatenate([above, equal[first]])
    return Matches(segment, documents[chosen], scores[chosen])


def _best(matches: Matches, count: int) -> Matches:
    """Return the best documents of a segment in their order: by score, then by IID."""
    segment, documents, scores = top(matches, count)
    order = np.lexsort((segment.ranks(documents), -scores))
    return Matches(segment, documents[order], scores[order])
