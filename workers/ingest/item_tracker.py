"""The items that a load has met: their IIDs and keys, the span of their days, and whether a row says anything new."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import InvalidIdentifier
from shared.gtin import is_restricted
from shared.index.identifiers import SCHEMES, Identifier, normal
from shared.index.iid import CHECK_WEIGHTS, CROCKFORD, MINTED_DIGITS, item_key, mint
from workers.ingest import calendar_days
from workers.ingest.fields import ItemFields

# IIDs of many items at once, as `shared.index.iid.mint` makes each: a load mints one for every item that it meets.


_ALPHABET = np.frombuffer(CROCKFORD.encode(), "u1")
_WEIGHTS = np.array(CHECK_WEIGHTS, "i4")
_FORM = np.frombuffer(b"IID-.....-.....-.....", "u1")
_IID = f"S{len(_FORM)}"
_PLACES = np.flatnonzero(ord(".") == _FORM)
_DIGEST_BYTES = 9


def mint_all(source: str, source_ids: list[str]) -> tuple[Any, Any]:
    """Return the IIDs of a source's items (ASCII) and their keys (int64), in the order of the ids."""
    begun = hashlib.blake2b(source.encode() + b"\0", digest_size=_DIGEST_BYTES)

    def digest(source_id: str) -> bytes:
        one = begun.copy()
        one.update(source_id.encode())
        return one.digest()

    digests = np.frombuffer(b"".join(map(digest, source_ids)), "u1").reshape(-1, _DIGEST_BYTES)
    bits = np.unpackbits(digests, axis=1)[:, : 5 * MINTED_DIGITS].reshape(-1, 5)
    digits = (np.packbits(bits, axis=1) >> 3).reshape(-1, MINTED_DIGITS)
    written = np.tile(_FORM, (len(digits), 1))
    written[:, _PLACES[:-1]] = _ALPHABET.take(digits)
    written[:, _PLACES[-1]] = _ALPHABET.take(digits @ _WEIGHTS % 32)
    iids = written.view(_IID).ravel()
    hashes = b"".join([hashlib.blake2b(iid, digest_size=8).digest() for iid in iids.tolist()])
    keys = (np.frombuffer(hashes, ">u8") >> np.uint64(1)).astype("i8")
    return iids, keys


UNKNOWN, SEVERAL = "names no item that the index has", "names several items of the index"
IID_TAKEN = "has an IID that another id of this load has"
IID_CHANGED = "has another IID than a former row of its id"
NO_DAY, LATEST = np.iinfo("i4").min, np.iinfo("i4").max


@dataclass(frozen=True, slots=True)
class Found:
    """The items found: for each the text that names it, its key and its IID; and of texts that can name none, why."""

    items: list[tuple[str, int, str]]
    faults: dict[str, str] = field(default_factory=dict)


# Asked with what a file names its items by.
KnownItems = Callable[[list[str]], Found]


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
            "iid": np.zeros(0, _IID),
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

    def number(self, source_ids: list[str]) -> Any:
        """Return the numbers of items by their source's ids, each named once; new ones get the next."""
        numbers = list(map(self._numbers.get, source_ids))  # once an id: with millions of items, memory is waited for
        if None in numbers:
            self._add([source_id for source_id, number in zip(source_ids, numbers, strict=True) if number is None])
            numbers = list(map(self._numbers.get, source_ids))
        return np.array(numbers, "i8")

    def keys(self, numbers: Any) -> Any:
        return self._arrays["key"][numbers]

    def iids(self, numbers: Any) -> list[str]:
        """Return the IIDs of items by their numbers."""
        return [iid.decode() for iid in self._arrays["iid"][numbers].tolist()]

    def extend_spans(self, numbers: Any, first: Any, last: Any) -> None:
        """Extend the spans of distinct items."""
        spans = self._arrays
        spans["first"][numbers] = np.minimum(spans["first"][numbers], first)
        spans["last"][numbers] = np.maximum(spans["last"][numbers], last)

    def newer(self, numbers: Any, days: Any) -> Any:
        """Return the places of distinct items whose day is not before the newest one seen, and remember that day."""
        newest = self._arrays["newest"]
        positions = np.flatnonzero(days >= newest[numbers])
        newest[numbers[positions]] = days[positions]
        return positions

    def changed(self, numbers: Any, contents: Any) -> Any:
        """Return the places of those whose content differs from the last one seen, and remember the new one."""
        positions = np.flatnonzero(self._arrays["content"][numbers] != contents)
        self._arrays["content"][numbers] = contents
        return positions

    def spans(self) -> tuple[Any, Any, Any]:
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


# The items of the index that a mapping with `join_by` speaks of: by a source's id, by IID, or by an identifier.


SQL = load_queries(__file__, "known_items.sql")
# Schemes whose number may have lost its leading zeros in a spreadsheet; of an ISBN-10 the length says what it is.
_ZEROS_LOST = ("gtin", "ean", "upc")
_GTIN_DIGITS = 14


def known_items(lookup: Connection, item: ItemFields, source: str) -> KnownItems:
    """Return a lookup of the items that the index has, by what a mapping joins by."""
    join_by = item.join_by
    if join_by == "id":
        return lambda names: Found(lookup.execute(SQL.known_by_id, (item.join_source or source, names)).fetchall())
    if join_by == "iid":
        return lambda names: Found(lookup.execute(SQL.known_by_iid, (names,)).fetchall())
    if join_by in SCHEMES:
        return lambda names: _by_identifier(lookup, join_by, item.join_source, names)
    for statement in (SQL.shown_identifiers, SQL.forget_shown):
        lookup.execute(statement)
    lookup.execute(SQL.gather_shown, (join_by, item.join_source))
    lookup.execute(SQL.index_shown)
    return lambda names: Found(lookup.execute(SQL.known_by_shown, (names,)).fetchall())


def _by_identifier(lookup: Connection, scheme: str, source: str, names: list[str]) -> Found:
    compared: dict[str, str] = {}
    faults: dict[str, str] = {}
    for name in names:
        try:
            identifier = _compared(scheme, name)
        except InvalidIdentifier as error:
            faults[name] = f"its {scheme} {error.detail}"
            continue
        if identifier is None:
            faults[name] = f"its {scheme} only says that there is none"
        elif not source and identifier.scheme == "gtin" and is_restricted(identifier.value):
            faults[name] = f"its {scheme} is a code that shops give out themselves: name whose it is by `join_source`"
        else:
            compared[name] = identifier.value
    values = (SCHEMES[scheme], list(compared), list(compared.values()), source)
    return Found(lookup.execute(SQL.known_by_identifier, values).fetchall(), faults)


def _compared(scheme: str, text: str) -> Identifier | None:
    try:
        return normal(scheme, text)
    except InvalidIdentifier:
        digits = text.strip().lstrip("0")
        if scheme in _ZEROS_LOST and digits.isascii() and digits.isdigit():
            return normal("gtin", digits.zfill(_GTIN_DIGITS))
        raise
