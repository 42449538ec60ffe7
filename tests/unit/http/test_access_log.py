"""Access lines that a full disk does not take are counted, also where it took a part of them."""

import fcntl
import os
from pathlib import Path

from edge.http.access_log import AccessLog

_LINE = b"x" * 999 + b"\n"


async def test_lines_behind_a_part_that_was_written_are_counted_as_lost(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)  # as little room as a pipe can have
    log = AccessLog(str(path))
    os.set_blocking(log._file, False)
    for _ in range(10):
        log.append(_LINE)
    log.flush()
    assert log.lost == 10 - os.read(reader, 65536).count(b"\n") > 0
    log.close()
    os.close(reader)
