"""What a load came to, in words for a person."""

from shared.printable import many
from workers.ingest.load import Summary
from workers.ingest.reject_log import reasons


def sentences(summary: Summary, *, dry_run: bool = False) -> list[str]:
    """Return what a load read, changed, refused, joined, took apart, and leaves to a person."""
    counts = summary.counts
    if not counts["rows"]:
        return ["Read: nothing, because the same files were loaded by the same mapping before.", "Changed: nothing."]
    waiting = counts.get("pairs_waiting", 0)
    hint = "" if dry_run else "; `itemindex matches list` shows them"
    return [
        f"Read: {many(counts['rows'], 'row')}, of which {counts['rows'] - counts['rejected']:,} could be used.",
        f"Changed: {_changes(summary)}.",
        *_refusals(summary, dry_run=dry_run),
        *_links("Joined", "part of another article now", counts.get("items_merged", 0), summary.joined),
        *_links("Came apart", "no longer part of their article", counts.get("items_parted", 0), summary.parted),
        f"Waiting for a person: {many(waiting, 'pair') + ' of items' + hint if waiting else 'nothing'}.",
    ]


def _changes(summary: Summary) -> str:
    if summary.state == "unchanged":
        return "nothing, because the index has all of it already"
    outcomes = ("new", "changed", "replaced")
    counted = [
        f"{summary.counts[f'{kind}_{outcome}']:,} {kind} {outcome}"
        for kind in ("items", "observations", "impacts", "factors")
        for outcome in outcomes
        if summary.counts.get(f"{kind}_{outcome}")
    ]
    return ", ".join(counted) or "what answers say of the source"


def _refusals(summary: Summary, *, dry_run: bool) -> list[str]:
    rows, fields = summary.rejects.total(), summary.field_rejects.total()
    if not rows + fields:
        return ["Refused: nothing."]
    title = f"Refused: {many(rows, 'row')}, and {many(fields, 'value')} of other rows:"
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
    return [f"{title}: {many(count, 'item')}, {words}:", *(f"  {one}" for one in examples), *more]
