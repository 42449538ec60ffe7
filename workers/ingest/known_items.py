"""The items of the index that a mapping with `join_by` speaks of: by a source's id, by IID, or by an identifier."""

from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import InvalidIdentifier
from shared.gtin import is_restricted
from shared.index.identifiers import SCHEMES, NormalIdentifier, normal
from workers.ingest.fields import ItemFields
from workers.ingest.item_tracker import FoundItems, KnownItems

SQL = load_queries(__file__, "known_items.sql")
# Schemes whose number may have lost its leading zeros in a spreadsheet; of an ISBN-10 the length says what it is.
_ZEROS_LOST = ("gtin", "ean", "upc")
_GTIN_DIGITS = 14


def known_items(lookup: Connection, item: ItemFields, source: str) -> KnownItems:
    """Return a lookup of the items that the index has, by what a mapping joins by."""
    join_by = item.join_by
    if join_by == "id":
        return lambda names: FoundItems(lookup.execute(SQL.known_by_id, (item.join_source or source, names)).fetchall())
    if join_by == "iid":
        return lambda names: FoundItems(lookup.execute(SQL.known_by_iid, (names,)).fetchall())
    if join_by in SCHEMES:
        return lambda names: _by_identifier(lookup, join_by, item.join_source, names)
    for statement in (SQL.shown_identifiers, SQL.forget_shown):
        lookup.execute(statement)
    lookup.execute(SQL.gather_shown, (join_by, item.join_source))
    lookup.execute(SQL.index_shown)
    return lambda names: FoundItems(lookup.execute(SQL.known_by_shown, (names,)).fetchall())


def _by_identifier(lookup: Connection, scheme: str, source: str, names: list[str]) -> FoundItems:
    compared: dict[str, str] = {}
    faults: dict[str, str] = {}
    for name in names:
        try:
            identifier = _normalize(scheme, name)
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
    return FoundItems(lookup.execute(SQL.known_by_identifier, values).fetchall(), faults)


def _normalize(scheme: str, text: str) -> NormalIdentifier | None:
    try:
        return normal(scheme, text)
    except InvalidIdentifier:
        digits = text.strip().lstrip("0")
        if scheme in _ZEROS_LOST and digits.isascii() and digits.isdigit():
            return normal("gtin", digits.zfill(_GTIN_DIGITS))
        raise
