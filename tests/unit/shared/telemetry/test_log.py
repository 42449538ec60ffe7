"""Lines of the log: a pipe that nobody reads stops no process, and each line is written or counted."""

import asyncio
import fcntl
import io
import json
import logging
import os
import threading
from pathlib import Path
from time import monotonic

import pytest

from edge.http.access_log import AccessLog
from edge.http.problems import Problem
from shared.telemetry import metrics
from shared.telemetry.line_writer import _DRAIN_SECONDS, LineWriter
from shared.telemetry.log import LibraryLines, Log, trace_of

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


def test_lines_after_the_end_are_counted_and_go_to_no_other_file(tmp_path: Path) -> None:
    before, others = lost(), set(threading.enumerate())
    file = os.open(tmp_path / "lines", os.O_WRONLY | os.O_CREAT)
    writer = LineWriter(file, metrics.access_lines_lost)
    writer.write(_LINE)
    [thread] = (one for one in threading.enumerate() if one.name == "line-writer" and one not in others)
    writer.close()
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    assert other == file  # the system gives the number again
    writer.write(_LINE * 2)
    assert lost() - before == 2
    thread.join(10)
    assert not thread.is_alive()
    os.close(other)
    assert (tmp_path / "lines").read_bytes().count(b"\n") == 1 and (tmp_path / "other").read_bytes() == b""


async def test_a_pipe_that_nobody_reads_stops_no_loop_and_each_line_is_written_or_counted(pipe: Path) -> None:
    reader, before, lines = opened(pipe), lost(), 5_000
    log = AccessLog(str(pipe))
    latest, stops = monotonic(), 0
    for n in range(lines):
        log.append(_LINE)
        if n % 100 == 0:
            await asyncio.sleep(0.02)  # 50 steps: several ticks of the log's own timer
            stops, latest = stops + (monotonic() - latest >= _DRAIN_SECONDS), monotonic()
    assert stops < 2  # a loop that waited for its lines would stop so long at each tick, a busy machine once
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
    assert monotonic() - began < 30  # a second for each line, were any waited for
    assert metrics.log_lines_lost._value.get() > before
    os.close(reader)


def _all_lines(reader: int) -> int:
    with os.fdopen(reader, "rb") as file:
        return sum(1 for _ in file)


def test_a_trace_names_places_and_never_values() -> None:
    try:
        raise RuntimeError("iixk_live_secret")
    except RuntimeError as error:
        reported = trace_of(error)
    assert Path(__file__).name in reported[0]
    assert "secret" not in str(reported)
    assert Problem("internal-error", "x").type.status == 500


def test_a_line_whose_values_do_not_fit_keeps_its_text_and_fails_nothing() -> None:
    for template, values, text in (
        ("%d items", (3,), "3 items"),
        ("%d items", ("no number",), "%d items"),
        ("%s", ("a", "b"), "%s"),
    ):
        written = io.StringIO()
        record = logging.LogRecord("aiohttp.server", logging.WARNING, __file__, 1, template, values, None)
        LibraryLines(Log("tests", stream=written)).emit(record)
        line = json.loads(written.getvalue())
        assert (line["event"], line["logger"], line["level"], line["text"]) == (
            "library",
            "aiohttp.server",
            "warning",
            text,
        ), template
