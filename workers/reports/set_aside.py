"""How many outliers a statistic leaves out, or counts where the caller wants them included."""

from dataclasses import replace

from shared.db.connect import Connection
from shared.outliers import MODES
from workers.reports.aggregator import Key
from workers.reports.filters import Filter, Tree
from workers.reports.periods import Range
from workers.reports.query import ReportProgress, any_in_index, gather
from workers.reports.result import Outliers

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
        gathered = gather(self._connection, self._tree, _only(chosen), self._days, report_progress)
        counts = {
            gathered.keys[segment]: int(n)
            for segment, n in zip(gathered.spread.segment, gathered.spread.n, strict=True)
        }
        self._total += sum(counts.values())
        return counts

    def summary(self) -> Outliers:
        """Return what the meta of the answer says: the mode, and how many there were in all segments together."""
        return Outliers(MODES[self._include], self._total)


def _only(chosen: Filter) -> Filter:
    return replace(chosen, kinds=chosen.set_aside, outliers=False)
