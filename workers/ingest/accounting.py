"""The account of a load: every row and every figure that was read is in exactly one place, or the load fails."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from shared.db.connect import Connection
from shared.errors import LoadRefused
from shared.printable import many
from workers.ingest.batches import Reject


@dataclass
class Summary:
    """The outcome of a load. `counts` are rows, items and observations by their outcome.

    `examples`: the first reject of each reason. `joined` and `parted`: in words, the first of the items that became
    part of another article, and of those that left theirs.
    """

    load_id: str
    state: str = "running"
    data_version: int | None = None
    job_id: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    rejects: Counter[str] = field(default_factory=Counter)
    field_rejects: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Reject] = field(default_factory=dict)
    joined: list[str] = field(default_factory=list)
    parted: list[str] = field(default_factory=list)

    @property
    def rows_rejected(self) -> int:
        return sum(self.rejects.values())


# The rejects of one load: all are counted by reason, and the first of them are kept as rows.


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

    def counts(self) -> dict[str, Any]:
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
    said = [place, f"{reject.column} {shown}".strip() if reject.column else shown]
    if not reject.file:
        said.append(reject.raw[:_CHARACTERS_SHOWN])
    return f"; for example {', '.join(part for part in said if part)}" if any(said) else ""


def _without_nul(value: Any) -> Any:
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def sentences(summary: Summary, *, dry_run: bool = False) -> list[str]:
    """Return what a load read, changed, rejected, merged, split and left for review."""
    counts = summary.counts
    if not counts["rows"]:
        return ["Read: nothing; the same files were already loaded with the same mapping.", "Changed: nothing."]
    waiting = counts.get("pairs_waiting", 0)
    hint = "" if dry_run else "; `itemindex matches list` shows them"
    return [
        f"Read: {many(counts['rows'], 'row')}, {counts['rows'] - counts['rejected']:,} of them usable.",
        f"Changed: {_changes(summary)}.",
        *_refusals(summary, dry_run=dry_run),
        *_links("Merged", "now part of another item", counts.get("items_merged", 0), summary.joined),
        *_links("Split", "no longer part of another item", counts.get("items_parted", 0), summary.parted),
        f"Awaiting review: {many(waiting, 'pair') + ' of items' + hint if waiting else 'nothing'}.",
    ]


def _changes(summary: Summary) -> str:
    if summary.state == "unchanged":
        return "nothing; the index already contains all of it"
    outcomes = ("new", "changed", "replaced")
    counted = [
        f"{many(summary.counts[f'{kind}s_{outcome}'], kind)} {outcome}"
        for kind in ("item", "observation", "impact", "factor")
        for outcome in outcomes
        if summary.counts.get(f"{kind}s_{outcome}")
    ]
    return ", ".join(counted) or "the description of the source"


def _refusals(summary: Summary, *, dry_run: bool) -> list[str]:
    rows, fields = summary.rejects.total(), summary.field_rejects.total()
    if not rows + fields:
        return ["Rejected: nothing."]
    title = f"Rejected: {many(rows, 'row')}, and {many(fields, 'value')} in other rows:"
    lines = [title, *(f"  {line}" for line in reasons(summary.rejects + summary.field_rejects, summary.examples))]
    if dry_run:
        return lines
    dropped = summary.counts.get("rejects_dropped", 0)
    bound = f" the first {rows + fields - dropped:,}" if dropped else " them"
    return [*lines, f"  `itemindex loads rejects {summary.load_id}` lists{bound}."]


def _links(title: str, words: str, count: int, examples: list[str]) -> list[str]:
    if not count:
        return [f"{title}: nothing."]
    more = [f"  and {count - len(examples):,} more"] if count > len(examples) else []
    return [f"{title}: {many(count, 'item')}, {words}:", *(f"  {example}" for example in examples), *more]


@dataclass(frozen=True, slots=True)
class Account:
    """The outcomes of all that a load read of one kind; they add up to `read`.

    `superseded` were replaced by a later row of the same load; `absent` are rows that bring nothing of the kind.
    """

    kind: str
    read: int
    new: int = 0
    replaced: int = 0
    same: int = 0
    superseded: int = 0
    absent: int = 0
    rejected: int = 0

    @property
    def outcomes(self) -> tuple[int, ...]:
        """How much has each outcome."""
        return (self.new, self.replaced, self.same, self.superseded, self.absent, self.rejected)

    @property
    def accounted(self) -> int:
        """How much has an outcome."""
        return sum(self.outcomes)


def accounts(counts: Mapping[str, int]) -> list[Account]:
    """Return the accounts of the kinds that a load's counts speak of; the first one is of rows."""

    def of(kind: str, read: int, **also: int) -> Account:
        parts = ("new", "replaced", "same", "superseded", "absent", "rejected")
        return Account(kind, read, **({part: counts.get(f"{kind}_{part}", 0) for part in parts} | also))

    used, rejected = counts.get("rows_used", 0), counts.get("rejected", 0)
    listed = [Account("rows", counts.get("rows", 0), new=used, rejected=rejected)]
    if "items_read" in counts:
        listed.append(of("items", counts["items_read"], replaced=counts.get("items_changed", 0)))
    if counts.get("observation_tables"):
        tables = counts["observation_tables"]
        lost = counts.get("observations_rejected", 0) + tables * rejected
        listed.append(of("observations", tables * counts.get("rows", 0), rejected=lost))
    return listed + [of(kind, counts[f"{kind}_read"]) for kind in ("impacts", "factors") if f"{kind}_read" in counts]


def uses_anything(counts: Mapping[str, int], rows: int, fields_rejected: int) -> bool:
    """Whether a load can use anything that it read. Rows that are empty by intent are used, and bring nothing."""
    brought = accounts(counts)[1:]
    if any(account.new or account.replaced or account.same or account.superseded for account in brought):
        return True
    return rows > 0 and counts.get("rows_used", 0) > 0 and not fields_rejected


def check(counts: Mapping[str, int]) -> None:
    """Raise LoadRefused where an account does not add up: something was lost or counted twice."""
    for account in accounts(counts):
        if account.accounted != account.read or min(account.outcomes) < 0:
            raise LoadRefused(
                f"the load does not add up: {account.read:,} {account.kind} read, {account.accounted:,} have an "
                f"outcome; nothing of it was kept, and this is a fault of the program ({account})"
            )
