"""Which articles of an event are watched, and for what. Pure."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shared.db.copy_binary import TableLayout
from workers.rollups.codec import Array

if TYPE_CHECKING:
    from workers.rollups.item_groups import Items

NEVER = 2**31 - 1
"""The absence of articles whose return no watch waits for."""
LAYOUT = TableLayout((("scope", "S1"), ("id", "i8"), ("absent", "i4")))
"""What is watched: `a` an item, `b` a brand, `c` a category; `absent`: days of an absence, 0 of a watch of prices."""


class Watched(NamedTuple):
    """Articles that are watched, in the order of their ids.

    `priced`: whether a watch waits for a price; `absent`: the shortest absence that one waits for, in days.
    """

    owner: Array
    priced: Array
    absent: Array

    @classmethod
    def among(cls, items: "Items", rows: Array) -> "Watched":
        """Return the watched ones among the articles of `items`; `rows` have the columns of LAYOUT."""
        found = [cls._least(*(np.empty(0, kind) for kind in ("i8", bool, "i8")))]
        for scope, column in ((b"a", items.item), (b"b", items.brand), (b"c", items.category)):
            of_scope = rows[rows["scope"] == scope]
            absent = of_scope["absent"].astype("i8")
            names = cls._least(of_scope["id"].astype("i8"), absent == 0, np.where(absent, absent, NEVER))
            place = names.places(column)
            known = np.flatnonzero((place >= 0) & (items.owner >= 0))
            place = place[known]
            found.append(cls(items.owner[known], names.priced[place], names.absent[place]))
        return cls._least(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    @classmethod
    def _least(cls, owner: Array, priced: Array, absent: Array) -> "Watched":
        """Put together what is said of each."""
        owners, place = np.unique(owner, return_inverse=True)
        any_priced, least = np.zeros(len(owners), bool), np.full(len(owners), NEVER)
        any_priced[place[priced]] = True
        np.minimum.at(least, place, absent)
        return cls(owners, any_priced, least)

    def places(self, owner: Array) -> Array:
        """Return the place of each owner among these, -1 where it is none of them."""
        if not len(self.owner):
            return np.full(len(owner), -1)
        place = np.searchsorted(self.owner, owner)
        place[place == len(self.owner)] = 0
        return np.where(self.owner[place] == owner, place, -1)
