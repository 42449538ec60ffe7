"""The items that a load has met: their IIDs and keys, the span of their days, and whether a row says anything new."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from shared.index.iid import item_key, mint
from workers.analytics.rollups.arrays import Array
from workers.ingest import calendar_days
from workers.ingest.mint_iids import IID_TYPE, mint_all

UNKNOWN, SEVERAL = "names no item that the index has", "names several items of the index"
IID_TAKEN = "has an IID that another id of this load has"
IID_CHANGED = "has another IID than a former row of its id"
NO_DAY, LATEST = np.iinfo("i4").min, np.iinfo("i4").max


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The items found: for each the text that names it, its key and its IID; and of texts that can name none, why."""

    items: list[tuple[str, int, str]]
    faults: dict[str, str] = field(default_factory=dict)


# Asked with what a file names its items by.
KnownItems = Callable[[list[str]], FoundItems]


class ItemTracker:
    """Numbers items in the order in which they come. Its memory grows with the items of a load, not with its rows."""

    def __init__(self, source: str, known: KnownItems | None = None, room: int = 65_536) -> None:
        """`room`: the least number of items by which the arrays grow at once."""
        self._room = room
        self._source = source
        self._known = known
        self._found: dict[str, tuple[int, str] | str] = {}
        self._numbers: dict[str, int] = {}
        self._arrays = {
            "key": np.zeros(0, "i8"),
            "iid": np.zeros(0, IID_TYPE),
            "content": np.zeros(0, "i8"),
            "first": np.zeros(0, "i4"),
            "last": np.zeros(0, "i4"),
            "newest": np.zeros(0, "i4"),
        }
        self._iids: dict[str, str] = {}
        self._claims: dict[str, str] = {}

    def find(self, names: list[str | None]) -> list[str | None]:
        """Look up the items that the index has under these names; return for each what is wrong with it, or None."""
        requested = sorted({name for name in names if name and name not in self._found})
        if requested and self._known is not None:
            found = self._known(requested)
            self._found |= dict.fromkeys(requested, UNKNOWN) | found.faults
            for name, key, iid in found.items:
                self._found[name] = (key, iid) if self._found[name] == UNKNOWN else SEVERAL
        faults = (self._found.get(name, UNKNOWN) if name else None for name in names)
        return [fault if isinstance(fault, str) else None for fault in faults]

    def claim(self, source_id: str, iid: str | None) -> str | None:
        """Claim an IID for an id, where the mapping has IIDs; None claims the one that it has or is minted.

        Return what is wrong with it, or None.
        """
        own = self._iids.get(source_id)
        wanted = iid or own or mint(self._source, source_id).iid
        if own is not None and own != wanted:
            return IID_CHANGED
        if self._claims.setdefault(wanted, source_id) != source_id:
            return IID_TAKEN
        self._iids[source_id] = wanted
        return None

    def number(self, source_ids: list[str]) -> Array:
        """Return the numbers of items by their source's ids, each named once; new ones get the next."""
        numbers = list(map(self._numbers.get, source_ids))  # once an id: with millions of items, memory is waited for
        if None in numbers:
            self._add([source_id for source_id, number in zip(source_ids, numbers, strict=True) if number is None])
            numbers = list(map(self._numbers.get, source_ids))
        return np.array(numbers, "i8")

    def keys(self, numbers: Array) -> Array:
        return self._arrays["key"][numbers]

    def iids(self, numbers: Array) -> list[str]:
        """Return the IIDs of items by their numbers."""
        return [iid.decode() for iid in self._arrays["iid"][numbers].tolist()]

    def extend_spans(self, numbers: Array, first: Array, last: Array) -> None:
        """Extend the spans of distinct items."""
        spans = self._arrays
        spans["first"][numbers] = np.minimum(spans["first"][numbers], first)
        spans["last"][numbers] = np.maximum(spans["last"][numbers], last)

    def newer(self, numbers: Array, days: Array) -> Array:
        """Return the places of distinct items whose day is not before the newest one seen, and remember that day."""
        newest = self._arrays["newest"]
        positions = np.flatnonzero(days >= newest[numbers])
        newest[numbers[positions]] = days[positions]
        return positions

    def take_changed(self, numbers: Array, contents: Array) -> Array:
        """Return the places of those whose content differs from the last one seen, and remember the new one."""
        positions = np.flatnonzero(self._arrays["content"][numbers] != contents)
        self._arrays["content"][numbers] = contents
        return positions

    def spans(self) -> tuple[Array, Array, Array]:
        """Return key, first and last day of every item met; an item without any day has today."""
        count, today = len(self._numbers), calendar_days.today()
        key, first, last = (self._arrays[name][:count] for name in ("key", "first", "last"))
        dayless = last == NO_DAY
        return key, np.where(dayless, today, first), np.where(dayless, today, last)

    @property
    def has_dayless(self) -> bool:
        """Whether the rows of any item have no day."""
        return bool((self._arrays["last"][: len(self._numbers)] == NO_DAY).any())

    def __len__(self) -> int:
        """Return how many items were met; two names may be of one that the index has."""
        count = len(self._numbers)
        return count if self._known is None else len(np.unique(self._arrays["key"][:count]))

    def _add(self, new: list[str]) -> None:
        number = len(self._numbers)
        self._make_room(number + len(new))
        self._numbers.update((source_id, number + n) for n, source_id in enumerate(new))
        iids, keys = mint_all(self._source, new)
        for n, source_id in enumerate(new) if self._iids else ():
            iids[n] = self._iids[source_id].encode()
            keys[n] = item_key(self._iids[source_id])
        for n, source_id in enumerate(new) if self._known is not None else ():
            known = self._found[source_id]
            assert not isinstance(known, str), "rows of unknown items are rejected before"
            keys[n], iids[n] = known[0], known[1].encode()
        self._arrays["key"][number : number + len(new)] = keys
        self._arrays["iid"][number : number + len(new)] = iids

    def _make_room(self, needed: int) -> None:
        if needed > len(self._arrays["key"]):
            size = needed + max(self._room, needed // 4)
            empty = {"key": 0, "iid": b"", "content": 0, "first": LATEST, "last": NO_DAY, "newest": NO_DAY}
            for name, old in self._arrays.items():
                grown = np.full(size, empty[name], old.dtype)
                grown[: len(old)] = old
                self._arrays[name] = grown
