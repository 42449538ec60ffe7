"""The rejects of one load: all are counted by reason, and the first of them are kept as rows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from shared.db.connect import Connection
from shared.errors import LoadRefused
from workers.ingest.batches import Reject

EXAMPLES_MAX = 3
_CHARACTERS_SHOWN = 60


class RejectLog:
    """Writes rejects by a connection of its own: they are what one needs most when the load fails.

    At most `rows_max` rows are kept, so that a file of nothing but errors does not fill the disk; the counts are exact.
    """

    def __init__(self, log: Connection, load_id: str, rows_max: int) -> None:
        self._log = log
        self.load_id = load_id
        self._rows_left = rows_max
        self.rows: Counter[str] = Counter()
        self.fields: Counter[str] = Counter()
        self.examples: dict[str, Reject] = {}
        self.dropped = 0
        self.rows_read = 0

    def add(self, rejects: list[Reject]) -> None:
        """Count rejects, and keep those for which there is room."""
        for reject in rejects:
            (self.rows if reject.scope == "row" else self.fields)[reject.reason] += 1
            self.examples.setdefault(reject.reason, reject)
        kept = min(len(rejects), self._rows_left)
        self._rows_left -= kept
        self.dropped += len(rejects) - kept
        if kept:
            self._write(islice(rejects, kept))

    def counts(self) -> dict[str, object]:
        """Return what is kept with the load for as long as its row."""
        return {
            "fields_rejected": self.fields.total(),
            "rejects_dropped": self.dropped,
            "rejects": dict(self.rows),
            "field_rejects": dict(self.fields),
        }

    def _write(self, rejects: Iterable[Reject]) -> None:
        columns = "load_id, file, line, reason, raw, column_name, value, scope"
        with self._log.cursor().copy(f"COPY rejects ({columns}) FROM STDIN".encode()) as copy:
            for reject in rejects:
                copy.write_row((self.load_id, *map(_without_nul, reject)))


def reasons(counted: Mapping[str, int], examples: Mapping[str, Reject]) -> list[str]:
    """Return the commonest reasons of rejects in words, each with its first example, and how many others there are."""
    common = Counter(counted).most_common(EXAMPLES_MAX)
    lines = [f"{count:,} × {reason}{_example(examples.get(reason))}" for reason, count in common]
    others = len(counted) - len(common)
    return [*lines, f"{others:,} more reasons" if others > 1 else "1 more reason"] if others else lines


def nothing_used(rows: int, counted: Mapping[str, int], examples: Mapping[str, Reject]) -> LoadRefused:
    """Return the refusal of a load that can use nothing of what it read, with the commonest reasons."""
    if not rows:
        return LoadRefused("the files have no rows; nothing is loaded")
    read = "1 row was read, and it cannot" if rows == 1 else f"{rows:,} rows were read, and none of them can"
    text = f"{read} be used; nothing is loaded"
    return LoadRefused("\n".join([text, *(f"  {line}" for line in reasons(counted, examples))]))


def _example(reject: Reject | None) -> str:
    if reject is None:
        return ""
    place = f"{reject.file} line {reject.line:,}" if reject.file else ""
    text = reject.raw if reject.value is None else reject.value
    shown = f"`{text[:_CHARACTERS_SHOWN]}{'…' if len(text) > _CHARACTERS_SHOWN else ''}`" if text else ""
    parts = [place, f"{reject.column} {shown}".strip() if reject.column else shown]
    if not reject.file:
        parts.append(reject.raw[:_CHARACTERS_SHOWN])
    return f"; for example {', '.join(part for part in parts if part)}" if any(parts) else ""


def _without_nul(value: object) -> object:
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value
