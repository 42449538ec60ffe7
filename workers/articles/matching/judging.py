"""Judging many pairs: blocks of them, each in one process with its own records."""

import gc
import multiprocessing
import os
import pickle
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import msgspec

from workers.articles.matching.context import has_copies
from workers.articles.matching.evidence import evidence, link_bound
from workers.articles.matching.model import Model
from workers.articles.matching.profiles import Profile
from workers.articles.matching.records import LinkDecision, LinkKind, MatchRecord, RecordLink
from workers.articles.matching.scoring import likely
from workers.articles.matching.segment import Array
from workers.articles.matching.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Pairs to judge: encoded records, the positions of left and right ones among them, and rows of `standings`."""

    texts: Sequence[bytes]
    left: Array
    right: Array
    standing: Array


@dataclass(frozen=True, slots=True)
class Judge:
    """Turns a block of pairs into links, by a model and the rarity of words."""

    model: Model
    vocabulary: Vocabulary

    def links(self, block: PairBlock) -> list[RecordLink]:
        """Return a link for each pair of the block from the model's lower bound on."""
        profiles = [Profile(msgspec.json.decode(text, type=MatchRecord), self.vocabulary) for text in block.texts]
        ends = zip(block.left.tolist(), block.right.tolist(), strict=True)
        compared = [(profiles[left], profiles[right]) for left, right in ends]
        positions, scores = likely(self.model, compared, block.standing)
        links = []
        offers = has_copies(block.standing)
        for at, score in zip(positions.tolist(), scores.tolist(), strict=True):
            left, right = sorted(compared[at], key=lambda one: one.record.key)
            if left.record.separate or right.record.separate:
                continue
            sure = score >= link_bound(left, right, self.model, offers=bool(offers[at]))
            decision = LinkDecision.LINK if sure else LinkDecision.REVIEW
            said = evidence(left, right)
            links.append(
                RecordLink(left.record.key, right.record.key, LinkKind.LIKENESS, round(score, 6), decision, said)
            )
        return links


def judge_blocks(judge: Judge, blocks: Iterable[PairBlock]) -> Iterator[RecordLink]:
    """Yield the links of blocks, in their order. Several blocks are judged in as many processes as there are cores."""
    waiting = iter(blocks)
    first = list(islice(waiting, 2))
    processes = len(os.sched_getaffinity(0))
    # A process of a pool, such as a Celery worker's, may not have children.
    if len(first) < 2 or processes < 2 or multiprocessing.current_process().daemon:
        for block in chain(first, waiting):
            yield from judge.links(block)
        return
    spawn = multiprocessing.get_context("spawn")
    with tempfile.NamedTemporaryFile() as kept:
        # By a file and not by the pipe of each process: the writer of a pipe waits for ever where its reader dies.
        pickle.dump(judge, kept)
        kept.flush()
        with ProcessPoolExecutor(processes, spawn, initializer=_begin, initargs=(kept.name,)) as pool:
            # No more blocks wait than keep the processes busy, so that memory does not follow the size of a load.
            running: deque[Future[list[RecordLink]]] = deque()
            for block in chain(first, waiting):
                running.append(pool.submit(_links, block))
                if len(running) > 2 * processes:
                    yield from running.popleft().result()
            for one in running:
                yield from one.result()


_judge: Judge


def _begin(kept: str) -> None:
    """Read the judge of this process, which frees everything by counting references.

    The profiles have no cycles, and the collector would look for them in all profiles of a block again and again: it
    took two fifths of the time.
    """
    global _judge
    gc.disable()
    _judge = pickle.loads(Path(kept).read_bytes())  # noqa: S301 - written by the process that began this one


def _links(block: PairBlock) -> list[RecordLink]:
    return _judge.links(block)
