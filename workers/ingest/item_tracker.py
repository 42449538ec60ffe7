"""The items that a load has met: their keys, the span of their days, and whether a row says anything new of them."""

from typing import Any

import numpy as np

from shared.ids import canonical_iid, item_key
from workers.ingest.bulk_ids import mint_all

_GROWTH = 65_536


class ItemTracker:
    """Numbers items in the order in which they come. Its memory grows with the items of a load, not with its rows."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._numbers: dict[str, int] = {}
        self._arrays = {"key": np.zeros(0, "i8"), "content": np.zeros(0, "i8"), "first": np.zeros(0, "i4"),
                        "last": np.zeros(0, "i4")}  # fmt: skip
        self.iids: list[str] = []

    def number(self, source_ids: list[str], iids: list[str | None]) -> Any:
        """Return the numbers of items by their source's ids, each named once; new ones get the next."""
        known = self._numbers
        new = [(source_id, iid) for source_id, iid in zip(source_ids, iids, strict=True) if source_id not in known]
        if new:
            self._add(new)
        return np.array([known[source_id] for source_id in source_ids], "i8")

    def keys(self, numbers: Any) -> Any:
        """Return the keys of items by their numbers."""
        return self._arrays["key"][numbers]

    def widen(self, numbers: Any, first: Any, last: Any) -> None:
        """Widen the spans of distinct items."""
        spans = self._arrays
        spans["first"][numbers] = np.minimum(spans["first"][numbers], first)
        spans["last"][numbers] = np.maximum(spans["last"][numbers], last)

    def news(self, numbers: Any, contents: Any) -> Any:
        """Return the places of those whose content differs from the last one seen, and remember the new one."""
        places = np.flatnonzero(self._arrays["content"][numbers] != contents)
        self._arrays["content"][numbers] = contents
        return places

    def spans(self) -> tuple[Any, Any, Any]:
        """Return key, first and last day of every item met."""
        count = len(self._numbers)
        return self._arrays["key"][:count], self._arrays["first"][:count], self._arrays["last"][:count]

    def _add(self, new: list[tuple[str, str | None]]) -> None:
        number = len(self._numbers)
        self._make_room(number, number + len(new))
        self._numbers.update((source_id, number + n) for n, (source_id, _) in enumerate(new))
        iids, keys = mint_all(self._source, [source_id for source_id, _ in new])
        own = {n: canonical for n, (_, iid) in enumerate(new) if iid and (canonical := canonical_iid(iid))}
        for n, iid in own.items():
            iids[n], keys[n] = iid, item_key(iid)
        self._arrays["key"][number : number + len(new)] = keys
        self.iids += iids

    def _make_room(self, number: int, needed: int) -> None:
        if needed > len(self._arrays["key"]):
            size = max(_GROWTH, needed * 2)
            empty = {"key": 0, "content": 0, "first": np.iinfo("i4").max, "last": np.iinfo("i4").min}
            for name, old in self._arrays.items():
                grown = np.full(size, empty[name], old.dtype)
                grown[:number] = old
                self._arrays[name] = grown
