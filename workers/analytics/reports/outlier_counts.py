"""How many outliers a statistic leaves out, or counts where the caller wants them included."""

from collections import Counter
from dataclasses import replace

from shared.analytics.outliers import MODES
from workers.analytics.reports.aggregator import Key
from workers.analytics.reports.filters import SQL, Filter
from workers.analytics.reports.periods import number
from workers.analytics.reports.query import Reader, groups_within_rollups, rollups_with_entries
from workers.analytics.reports.result import OutlierTreatment
from workers.analytics.rollups.codec import unpack

METHOD = "prices that nothing confirms are outliers: `outliers` says whether they count, `set_aside` how many there are"


class SetAside:
    """Outliers of what a report asks for; nothing is read where the index has none in the range."""

    def __init__(self, reader: Reader, chosen: Filter) -> None:
        self._reader = reader
        self._include = chosen.outliers
        self._any = reader.any_in_index(_only(chosen))
        self._total = 0

    def of(self, chosen: Filter) -> dict[Key, int]:
        """Return how many there are of each segment of a filter; a segment without any is left out."""
        if not self._any:
            return {}
        days = self._reader.days
        # Rollups count the outliers of items without a content too.
        others = None if self._reader.unit_prices else groups_within_rollups(chosen)
        if others is not None and len(others) < 2 and all(map(days.holds_month, days.months())):
            counts = self._of_rollups(_only(chosen), *others)
        else:
            gathered = self._reader.gather(_only(chosen))
            spread = gathered.spread
            counts = {gathered.keys[segment]: int(n) for segment, n in zip(spread.segment, spread.n, strict=True)}
        self._total += sum(counts.values())
        return counts

    def _of_rollups(self, chosen: Filter, other: str | None = None) -> dict[Key, int]:
        """Count those of whole months, which add up, in one statement; `other` is the group within rollups."""
        scope, ids, _ = rollups_with_entries(chosen, self._reader.tree)
        first, last = self._reader.days.first, self._reader.days.last
        values = (scope, ids, first, last, chosen.currency, list(chosen.strata), other)
        counts: Counter[Key] = Counter()
        for own_id, month, currency, n, packed in self._reader.rows(SQL.counts, *values):
            for other_id, of_other in _counted(n, packed, other):
                groups = [other_id if name == other else own_id for name in chosen.group_by] + [0, 0]
                counts[Key(currency, number(month), groups[0], groups[1])] += of_other
        return dict(counts)

    def summary(self) -> OutlierTreatment:
        """Return what the meta of the answer says: the mode, and how many there were in all segments together."""
        return OutlierTreatment(MODES[self._include], self._total)


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
