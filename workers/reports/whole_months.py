"""Cohorts of brands or categories by whole months: all that the answer needs, in one statement.

A small cohort costs little more than its round trips and the server's work on each statement, so these most common
questions have a statement of their own. It sees one state of the index without a transaction.
"""

from typing import Any, NamedTuple

import msgspec

from shared.db.arrays import text_array
from shared.db.connect import Connection
from shared.outliers import MODES
from workers.reports.aggregator import Collector, GroupedSeries, Key
from workers.reports.filters import KINDS, SQL
from workers.reports.periods import Range, number
from workers.reports.query import ReportProgress, add_rollups
from workers.reports.rendering import Names
from workers.reports.result import Outliers

_SCOPES = {"brand": "b", "category": "t"}
Row = tuple[Any, ...]


class Cohort(NamedTuple):
    """What the rows of a cohort are made of: its segments, names for them, and how many outliers each has."""

    days: Range
    kind: str
    series: GroupedSeries
    names: Names
    set_aside: dict[Key, int]
    outliers: Outliers


def read_whole_months(
    connection: Connection, parameters: dict[str, Any], days: Range, report_progress: ReportProgress
) -> Cohort | None:
    """Return the cohort of whole months; None where a name is unknown or only single observations answer.

    Raises what `report_progress` raises to stop it.
    """
    name = _answered_by(parameters)
    if name is None:
        return None
    report_progress("reading", 0, None)
    named, grouped = list(dict.fromkeys(parameters[name])), bool(parameters.get("group_by"))
    kinds = KINDS[parameters.get("kind") or "both"]
    strata = [*kinds, *(kind.upper() for kind in kinds)]
    tops = [one for one in named if name == "brand" or not any(one.startswith(f"{other}.") for other in named)]
    # As text: the driver takes 15 µs to find the type of each list.
    arrays = map(text_array, (named, tops, strata))
    values = (_SCOPES[name], days.first, days.last, parameters.get("currency"), *arrays)
    rows = connection.cursor(binary=True).execute(SQL.whole_months, values).fetchall()
    ids, codes = (msgspec.json.decode(text or "{}") for text in rows[0][:2])
    if len(ids) < len(named):
        return None
    names = Names({number: slug for slug, number in ids.items()}, {}, {int(one): code for one, code in codes.items()})
    rollups = [row[2:] for row in rows if row[2] is not None]
    kind = next((kind for kind in kinds if any(stratum == kind for stratum, *_ in rollups)), kinds[0])
    collector, set_aside = Collector(days), _set_aside(rollups, kind, grouped=grouped)
    add_rollups(collector, (row[2:] for row in rollups if row[0] == kind), grouped=grouped)
    outliers = Outliers(MODES[False], sum(set_aside.values()))
    kind_name = next(name for name, listed in KINDS.items() if listed == (kind,))
    return Cohort(days, kind_name, collector.segments(), names, set_aside, outliers)


def _answered_by(parameters: dict[str, Any]) -> str | None:
    """Return whether rollups of brands or of categories answer a question of whole months; None: neither."""
    names = [name for name in _SCOPES if parameters.get(name)]
    groups = parameters.get("group_by") or []
    if len(names) != 1 or groups not in ([], names[:1] if names == ["brand"] else []) or parameters.get("channel"):
        return None
    mixed = parameters.get("kind") not in (None, "listing", "sale") or parameters.get("outliers") == "include"
    return None if mixed else names[0]


def _set_aside(rollups: list[Row], kind: str, *, grouped: bool) -> dict[Key, int]:
    """Return how many outliers of a kind each segment has; a segment without any is left out."""
    counts: dict[Key, int] = {}
    for stratum, n, group_id, month, currency, *_ in rollups:
        if stratum == kind.upper():
            key = Key(currency, number(month), group_id if grouped else 0, 0)
            counts[key] = counts.get(key, 0) + n
    return counts
