"""The trace of a request: W3C Trace Context, level 1. Pure but for fresh random ids.

One header names the trace and the step before ours. A malformed header begins a new trace, as if none had been
given: a header about tracing never fails a request.
"""

import os
import re
from typing import NamedTuple

_HEADER = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?",
    re.ASCII,
)
_TRACE_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_LONGEST = 256
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_SAMPLED = 0x01
_DRAWN_DIGITS = 14
_DRAWN_VALUES = float(1 << 4 * _DRAWN_DIGITS)


class SpanContext(NamedTuple):
    """One step of a trace: a request at an edge, or an attempt at a job. `parent_id` is empty where it began here."""

    trace_id: str
    span_id: str
    parent_id: str
    sampled: bool

    @property
    def traceparent(self) -> str:
        """The header, or the text in a job's row, that continues this step elsewhere."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


def step_from(given: str | None, *, otherwise: str = "", share: float = 0.0) -> SpanContext:
    """Take the next step of a given trace, or the first one of a new trace.

    A new trace takes the id `otherwise` where that has the form of one: a request id of nginx has, so the same word
    finds a request in every log. `share` of the new traces are sampled; a given one keeps its caller's decision.
    """
    match = _HEADER.fullmatch(given) if given and len(given) <= _LONGEST else None
    if match is not None and _sound(match):
        return SpanContext(match["trace"], _fresh(8), match["span"], bool(int(match["flags"], 16) & _SAMPLED))
    fits = _TRACE_ID.fullmatch(otherwise) is not None and otherwise != _NO_TRACE
    trace_id = otherwise if fits else _fresh(16)
    return SpanContext(trace_id, _fresh(8), "", _is_sampled(trace_id, share))


def _sound(match: re.Match[str]) -> bool:
    if match["version"] == "ff" or match["trace"] == _NO_TRACE or match["span"] == _NO_SPAN:
        return False
    # Version 00 ends with its flags; a later version may add fields behind them.
    return match["more"] is None or match["version"] != "00"


def _is_sampled(trace_id: str, share: float) -> bool:
    # By the last bits of the id, not at random: every part that sees the trace decides the same.
    return int(trace_id[-_DRAWN_DIGITS:], 16) < share * _DRAWN_VALUES


def _fresh(size: int) -> str:
    return os.urandom(size).hex()
