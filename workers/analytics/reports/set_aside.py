"""Outliers that a statistic leaves out or counts, and insights for each channel apart (`group_by=channel`)."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shared.analytics.outliers import MODES
from shared.db.connect import Connection
from shared.errors import InvalidParameter
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.filters import SQL, Filter, Tree
from workers.analytics.reports.periods import Range, number
from workers.analytics.reports.query import (
    ReportProgress,
    any_in_index,
    gather,
    groups_within_rollups,
    rollups_with_entries,
)
from workers.analytics.reports.result import Outliers
from workers.analytics.rollups.codec import unpack

# Insights for each channel apart: `group_by=channel`.


Rows = Callable[[Filter], list[dict[str, Any]]]


def is_grouped(parameters: dict[str, Any]) -> bool:
    """Tell whether each channel has rows of its own. Raises InvalidParameter for any other group."""
    groups = parameters.get("group_by") or []
    if groups not in ([], ["channel"]):
        raise InvalidParameter("group_by", "must be channel")
    return bool(groups)


def by_channel(chosen: Filter, codes: dict[int, str], rows: Rows) -> Iterator[dict[str, Any]]:
    """Yield the rows of a filter for each of its channels, in the order of their codes; `codes` are all channels'."""
    wanted = codes if chosen.channels is None else {channel: codes[channel] for channel in chosen.channels}
    for channel, code in sorted(wanted.items(), key=lambda one: one[1]):
        for row in rows(replace(chosen, channels=(channel,))):
            yield {**row, "channel": code}


def with_channel(schema: pa.Schema) -> pa.Schema:
    """Return a schema with a column for the channel before the currency."""
    return schema.insert(schema.get_field_index("currency"), pa.field("channel", pa.string()))


# How many outliers a statistic leaves out, or counts where the caller wants them included.


METHOD = (
    "observations that their neighbours contradict are outliers: `outliers` says whether they count, "
    "`set_aside` how many there are"
)


class SetAside:
    """Outliers of what a report asks for; nothing is read where the index has none in the range."""

    def __init__(self, connection: Connection, tree: Tree, chosen: Filter, days: Range) -> None:
        self._connection = connection
        self._tree = tree
        self._days = days
        self._include = chosen.outliers
        self._any = any_in_index(connection, _only(chosen), days)
        self._total = 0

    def of(self, chosen: Filter, report_progress: ReportProgress) -> dict[Key, int]:
        """Return how many there are of each segment of a filter; a segment without any is left out."""
        if not self._any:
            return {}
        others = groups_within_rollups(chosen)
        if others is not None and len(others) < 2 and all(map(self._days.holds_month, self._days.months())):
            counts = self._of_rollups(_only(chosen), *others)
        else:
            gathered = gather(self._connection, self._tree, _only(chosen), self._days, report_progress)
            counts = {
                gathered.keys[segment]: int(n)
                for segment, n in zip(gathered.spread.segment, gathered.spread.n, strict=True)
            }
        self._total += sum(counts.values())
        return counts

    def _of_rollups(self, chosen: Filter, other: str | None = None) -> dict[Key, int]:
        """Count those of whole months, which add up, in one statement; `other` is the group within rollups."""
        scope, ids, _ = rollups_with_entries(chosen, self._tree)
        first, last = self._days.first, self._days.last
        values = (scope, ids, first, last, chosen.currency, list(chosen.strata), other)
        counts: Counter[Key] = Counter()
        for own_id, month, currency, n, packed in self._connection.cursor(binary=True).execute(SQL.counts, values):
            for other_id, of_other in _counted(n, packed, other):
                groups = [other_id if name == other else own_id for name in chosen.group_by] + [0, 0]
                counts[Key(currency, number(month), groups[0], groups[1])] += of_other
        return dict(counts)

    def summary(self) -> Outliers:
        """Return what the meta of the answer says: the mode, and how many there were in all segments together."""
        return Outliers(MODES[self._include], self._total)


def _counted(n: int, packed: bytes | None, by: str | None) -> list[tuple[int, int]]:
    """Return the ids of a rollup's groups, and how many observations each has; without groups one with the id 0."""
    if packed is None:
        return [(0, n)]
    if by == "channel":
        channels, of_channels = unpack(packed, 2)
        return list(zip(channels.tolist(), of_channels.tolist(), strict=True))
    return list(Counter(unpack(packed, 3)[2].tolist()).items())


def _only(chosen: Filter) -> Filter:
    return replace(chosen, kinds=chosen.set_aside, outliers=False)
