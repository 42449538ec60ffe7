"""Parts of an export are equal ranges of keys that leave none out, as many for one worker as for the other."""

from itertools import pairwise

from shared.bulk.request import GONE, ID_END, ROWS, Request
from tests.support.exports import parameters
from workers.bulk.export_plan import ranges_of
from workers.jobs.services import SplitRows


def request(since: int | None = None) -> Request:
    return Request.read(parameters("observations") | {"since": since})


def test_ranges_cover_every_key_once_and_two_workers_write_equally_many() -> None:
    for rows in (0, 100_000, 100_001, 1_500_001, 3_000_001, 10_000_000, 10**11):
        ranges = ranges_of(request(), rows, 20_000, SplitRows())
        assert (ranges[0][1], ranges[-1][2]) == (0, ID_END), rows
        assert all(before[2] == after[1] for before, after in pairwise(ranges)), rows
        assert len(ranges) == 1 if rows <= 100_000 else len(ranges) % 2 == 0, rows
        assert rows / len(ranges) <= 1_500_000 or len(ranges) == 5_000, rows


def test_changes_have_one_more_part_for_what_is_gone() -> None:
    ranges = ranges_of(request(since=1), 10, 10, SplitRows())
    assert ranges == [(ROWS, 0, ID_END), (GONE, 0, ID_END)]
