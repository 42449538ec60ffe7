"""Access lines for which there is no place are counted, and no request waits for a place."""

import asyncio
import fcntl
import os
from pathlib import Path
from time import monotonic

import pytest

from edge.http.request_context import AccessLog
from shared.telemetry import metrics
from shared.telemetry.line_writer import LineWriter
from shared.telemetry.log import Log

_LINE = b"x" * 999 + b"\n"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "lines"
    os.mkfifo(path)
    return path


def opened(pipe: Path) -> int:
    """Open the end of a reader, with as little room for lines that wait for it as a pipe can have."""
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    return reader


def lost() -> float:
    return metrics.access_lines_lost._value.get()


async def test_lines_behind_a_part_that_was_written_are_counted_as_lost(pipe: Path) -> None:
    reader, before = opened(pipe), lost()
    file = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)  # takes what fits, as a disk that becomes full
    writer = LineWriter(file, metrics.access_lines_lost)
    writer.write(_LINE * 10)
    writer.close()
    assert lost() - before == 10 - os.read(reader, 65536).count(b"\n") > 0
    os.close(reader)


async def test_a_pipe_that_nobody_reads_stops_no_loop_and_each_line_is_written_or_counted(pipe: Path) -> None:
    reader, before, lines = opened(pipe), lost(), 5_000
    log = AccessLog(str(pipe))
    latest, longest = monotonic(), 0.0
    for n in range(lines):
        log.append(_LINE)
        if n % 100 == 0:
            await asyncio.sleep(0.02)  # 50 steps: several ticks of the log's own timer
            longest, latest = max(longest, monotonic() - latest), monotonic()
    assert longest < 0.5
    assert lost() > before
    os.set_blocking(reader, True)
    read = asyncio.create_task(asyncio.to_thread(_all_lines, reader))
    await asyncio.to_thread(log.flush)
    log.close()
    assert await read + lost() - before == lines


async def test_a_log_whose_pipe_nobody_reads_stops_no_loop(pipe: Path) -> None:
    reader = opened(pipe)
    before = metrics.log_lines_lost._value.get()
    log = Log("tests", stream=LineWriter(os.open(pipe, os.O_WRONLY), metrics.log_lines_lost))
    began = monotonic()
    for _ in range(2_000):
        log.info("started", text="x" * 1_000)
    assert monotonic() - began < 2
    assert metrics.log_lines_lost._value.get() > before
    os.close(reader)


def _all_lines(reader: int) -> int:
    with os.fdopen(reader, "rb") as file:
        return sum(1 for _ in file)
