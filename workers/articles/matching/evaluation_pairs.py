"""Two record files compared: all candidates between them and the pairs that pair files list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shared.errors import ItemIndexError
from workers.articles.matching.context import Pairs, pairs_of
from workers.articles.matching.evaluation_files import LabelledPairs, read_pairs, read_records
from workers.articles.matching.index import MatchIndex
from workers.articles.matching.segment import Array

_LEAST_EXAMPLES = 10


class TooFewExamples(ItemIndexError):
    """The training pairs hold too few matches or non-matches to learn from."""


@dataclass(frozen=True, slots=True)
class Compared:
    """`pairs`: candidates and listed pairs. `positions`: for each pair file, where its rows are among them.

    `candidate`: whether each record of a pair is among the nearest of the other.
    """

    index: MatchIndex
    pairs: Pairs
    candidate: Array
    listed: tuple[LabelledPairs, ...]
    positions: tuple[Array, ...]

    def examples(self, files: Iterable[int]) -> tuple[Array, Array]:
        """Return the positions and labels of the distinct pairs of some of the files.

        A pair with both labels counts as what most of its rows say, or no match. Raises TooFewExamples.
        """
        votes: dict[int, list[bool]] = {}
        for file in files:
            for position, label in zip(self.positions[file].tolist(), self.listed[file].labels, strict=True):
                votes.setdefault(position, []).append(label)
        known = np.array(sorted(votes), np.int64)
        labels = np.array([sum(votes[position]) * 2 > len(votes[position]) for position in known.tolist()], bool)
        if min(labels.sum(), (~labels).sum()) < _LEAST_EXAMPLES:
            raise TooFewExamples(f"the training pairs need {_LEAST_EXAMPLES} matches and as many others")
        return known, labels


def compare(left_file: Path, right_file: Path, pair_files: Sequence[Path]) -> Compared:
    """Read the files, index their records, and find the candidates."""
    left, right = read_records(left_file, "left"), read_records(right_file, "right")
    listed = tuple(read_pairs(path, left, right) for path in pair_files)
    index = MatchIndex.build([*left.values(), *right.values()])
    row = {index.record(int(at)).key: int(at) for at in index.rows()}
    nearest = index.nearest(index.rows())
    row_pairs = [_rows_of_pairs(row, one) for one in listed]
    pairs = pairs_of(
        index,
        np.concatenate([nearest.row, *(of_file.T.ravel() for of_file in row_pairs)]),
        np.concatenate([nearest.other, *(of_file[:, ::-1].T.ravel() for of_file in row_pairs)]),
    )
    at = {pair: number for number, pair in enumerate(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))}
    candidate = np.zeros(len(pairs.left), bool)
    directed = set(zip(nearest.row.tolist(), nearest.other.tolist(), strict=True))
    candidate[[at[pair] for pair in directed if pair in at and pair[::-1] in directed]] = True
    positions = tuple(np.array([at[pair] for pair in map(tuple, of_file.tolist())]) for of_file in row_pairs)
    return Compared(index, pairs, candidate, listed, positions)


def _rows_of_pairs(row: dict[str, int], listed: LabelledPairs) -> Array:
    """Return the rows of pairs; records of the left file were added first and have the smaller ones."""
    return np.array([(row[f"left/{left}"], row[f"right/{right}"]) for left, right in listed.pairs])
