"""The directory of the kept index is one process's at a time; waiting for it can be cancelled."""

import fcntl
from pathlib import Path
from typing import cast

import pytest

from shared.db.connect import Connection
from workers.articles.index import open_index


class Cancelled(Exception):
    """What a cancelled job raises."""


def test_who_waits_for_a_process_that_hangs_can_be_cancelled(tmp_path: Path) -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(len(asked))
        if len(asked) == 3:
            raise Cancelled

    with (tmp_path / ".lock").open("ab") as hung:
        fcntl.flock(hung, fcntl.LOCK_EX)
        with pytest.raises(Cancelled):
            open_index(cast("Connection", None), tmp_path, check=check)
    assert asked == [0, 1, 2]
