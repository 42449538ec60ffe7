"""What each item of an export or a release holds, from one snapshot: as kept beside the items, else from its name."""

import json
from typing import NamedTuple

import numpy as np

from shared.db.copy_binary import Array, TableLayout
from shared.db.queries import load_queries
from shared.units.names import ATTRIBUTES, CONTENTS_RULE
from workers.analytics.exact_unit_prices import Contents
from workers.analytics.stated_contents import amounts
from workers.bulk.codecs.observations import NO_UNIT, Columns
from workers.bulk.sources.snapshot import Snapshot

SQL = load_queries(__file__, "item_contents.sql")
_LAYOUT = TableLayout([("item", "i8"), ("per", "S1"), ("numerator", "i8"), ("denominator", "i8")])


class ItemContents(NamedTuple):
    """The first content that each of some items states.

    `per` is the code of its unit's first letter; where it is unknown the content is 0/1.
    """

    per: Array
    held: Contents

    def columns(self, places: Array) -> Columns:
        """Return the columns of observations, by the places of their items."""
        held = self.held.take(places)
        return {"per": self.per.take(places), "numerator": held.numerator, "denominator": held.denominator}


def read_item_contents(snapshot: Snapshot, ids: Array, id_from: int = 0, id_to: int = 0) -> ItemContents:
    """Return the contents of items, by their ids in any order; those outside the range are asked for one by one."""
    ordered, place = np.unique(ids, return_inverse=True)
    per = np.full(len(ordered), NO_UNIT, "u1")
    held = Contents(np.zeros(len(ordered), "i8"), np.ones(len(ordered), "i8"))
    others = ordered[(ordered < id_from) | (ordered >= id_to)].tolist()
    asked = (CONTENTS_RULE, id_from, id_to, others)
    for piece in snapshot.copy(SQL.kept, *asked, format="binary"):
        rows = _LAYOUT.rows_in(piece)
        at = np.minimum(np.searchsorted(ordered, rows["item"]), len(ordered) - 1)
        known = ordered[at] == rows["item"]
        rows, at = rows[known], at[known]
        per[at] = np.ascontiguousarray(rows["per"]).view("u1")
        held.numerator[at], held.denominator[at] = rows["numerator"], rows["denominator"]
    for item, name, attributes in snapshot.rows(SQL.unread, *asked, list(ATTRIBUTES)):
        first = next(iter(amounts(name, json.loads(attributes) if attributes else None)), None)
        one = int(np.searchsorted(ordered, item))
        if first is not None and one < len(ordered) and ordered[one] == item:
            per[one] = ord(first.per[0])
            held.numerator[one], held.denominator[one] = first.amount.numerator, first.amount.denominator
    return ItemContents(per.take(place), held.take(place))
