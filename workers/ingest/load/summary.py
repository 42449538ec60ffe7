"""The outcome of a load, and its sentences."""

from collections import Counter
from dataclasses import dataclass, field

from shared.printable import many
from workers.ingest.batches import Reject
from workers.ingest.load.rejects import reasons


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
