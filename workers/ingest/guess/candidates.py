"""The columns that may be each field, by their names and by how their cells are written. Pure."""

from collections.abc import Callable
from typing import NamedTuple

from shared.currencies import MARKS
from shared.gtin import is_shortened
from shared.printable import many
from workers.ingest.column_names import PART, WHOLE, has_word, is_of_codes, name_score, plain, role_names
from workers.ingest.guess.cell_kinds import (
    HALF,
    MOSTLY,
    are_amounts,
    are_flags,
    are_short,
    are_texts,
    are_words,
    fits_gtin,
    is_address,
    is_isbn,
    is_picture,
    is_text,
    share_of,
)
from workers.ingest.guess.currency_marks import is_called_by_currency
from workers.ingest.guess.day_formats import day_formats
from workers.ingest.guess.field_guess import IN_FULL, ColumnCandidate, ColumnEvidence
from workers.ingest.sampling.sample import Sample

# What cells add, so that they decide between names that say nearly the same.
_OF_FILLED, _OF_DISTINCT = 10, 5
# What tells items apart, and so has few cells twice.
_DISTINCT = frozenset(("id", "name", "gtin", "isbn", "url"))
# What a column that counts, such as one of reviews, is never taken for, whatever else its name says.
_NOT_COUNTED = frozenset(("name", "brand", "category", "channel", "url"))
# What a column of codes, such as `vendor_sku`, is never taken for: it has what stands for that, and not its name.
_NOT_OF_CODES = frozenset(("name", "brand", "category", "size", "colour"))

# Attributes that name the language of a text.
_LANGUAGES = frozenset(("@lang", "@language"))


class _Rule(NamedTuple):
    """When a column whose name fits a role has that role."""

    fits: Callable[[list[str]], bool] = bool
    """Whether its cells can be that, where it has any."""
    least: float = 0
    """The score that its name needs; the other one counts where all rows have the same cell."""
    least_of_one_value: float = 0
    is_not: str = ""
    """A role that its name must not fit."""
    is_several: bool = False
    may_be_empty: bool = False


_RULES = {
    "id": _Rule(lambda cells: not any(map(is_shortened, cells)), least_of_one_value=WHOLE - 50),  # no country's code
    "name": _Rule(are_texts, least_of_one_value=PART),  # no unit of an item's weight
    "description": _Rule(are_texts),
    "brand": _Rule(lambda cells: share_of(cells, is_text) >= HALF),
    "category": _Rule(lambda cells: are_words(cells) and not are_flags(cells), is_several=True),
    "variant": _Rule(lambda cells: are_words(cells) and are_short(cells), least=WHOLE - 50, is_several=True),
    "gtin": _Rule(lambda cells: share_of(cells, lambda text: fits_gtin(text) or is_shortened(text)) >= HALF),
    "isbn": _Rule(lambda cells: share_of(cells, is_isbn) >= HALF),
    "url": _Rule(lambda cells: share_of(cells, is_address) >= HALF and share_of(cells, is_picture) < HALF),
    "price": _Rule(are_amounts, is_several=True),
    "sale_price": _Rule(are_amounts, may_be_empty=True),  # a row behind the sample may have one
    "list_price": _Rule(are_amounts),
    "currency": _Rule(lambda cells: share_of(cells, lambda text: text.upper() in MARKS or text in MARKS) >= MOSTLY),
    "day": _Rule(lambda cells: bool(day_formats(cells, HALF))),
    "channel": _Rule(lambda cells: not are_flags(cells), is_not="no_stock"),  # the stock of an outlet
    "weight": _Rule(are_amounts),
    "units": _Rule(are_amounts),
}


def candidates_of(sampled: Sample) -> dict[str, list[ColumnCandidate]]:
    """Return the candidates of each role, the best one first."""
    named = (
        (name_score(column, aliases), -place, role, column)
        for role, aliases in role_names().items()
        for place, column in enumerate(sampled.columns)
    )
    scored = sorted((one for one in named if one[0]), reverse=True)
    in_full: dict[str, str] = {}
    for score, _, role, column in scored:
        if score >= IN_FULL:
            in_full.setdefault(column, role)
    found: dict[str, list[ColumnCandidate]] = {}
    for score, _, role, column in scored:
        # A "seller SKU" is no seller, also where another column is the id.
        if in_full.get(column, role) == role and _may_be(sampled, column, role, score):
            found.setdefault(role, []).append(ColumnCandidate(column, _evidence(sampled, column, role, score)))
    return {role: sorted(those, key=lambda one: -one.score) for role, those in found.items()}


def may_have_several(role: str) -> bool:
    """Return whether several columns may have a role, as levels of a category; of other roles each has one."""
    return _rule(role).is_several


def by_cells_alone(sampled: Sample, column: str, role: str) -> ColumnCandidate:
    """Return a candidate whose cells say what its name does not."""
    return ColumnCandidate(column, (ColumnEvidence("cells", 0, "its cells say so"), *_of_cells(sampled, column, role)))


def _rule(role: str) -> _Rule:
    return _RULES.get(role, _Rule(is_several=role.startswith("no_")))


def _may_be(sampled: Sample, column: str, role: str, score: float) -> bool:
    """Return whether a column whose name scores for a role can have it."""
    rule = _rule(role)
    if rule.is_not and name_score(column, role_names()[rule.is_not]):
        return False
    if column.rpartition(".")[2] in _LANGUAGES or (role == "no_price" and is_called_by_currency(column)):
        return False
    if role in _NOT_COUNTED and has_word(column, "count"):
        return False
    if (role in _NOT_OF_CODES and is_of_codes(column)) or (role == "channel" and plain(column).endswith("sku")):
        return False
    if role == "category" and column.rpartition(".")[2].startswith(("_", "@")):  # of what kind an object is
        return False
    cells = sampled.values(column)
    is_one_value = len(cells) > 1 and len(set(cells)) == 1
    if score < max(rule.least, is_one_value and rule.least_of_one_value):
        return False
    return rule.fits(cells) if cells else rule.may_be_empty


def _evidence(sampled: Sample, column: str, role: str, score: float) -> tuple[ColumnEvidence, ...]:
    certain = "is called so" if score >= IN_FULL else "its name ends so" if score >= PART else "its name has such words"
    return ColumnEvidence("name", score, certain), *_of_cells(sampled, column, role)


def _of_cells(sampled: Sample, column: str, role: str) -> tuple[ColumnEvidence, ...]:
    cells, distinct = sampled.values(column), len(set(sampled.values(column)))
    filled = _OF_FILLED * len(cells) / max(len(sampled.rows), 1)
    apart = _OF_DISTINCT * distinct / max(len(cells), 1) if role in _DISTINCT else 0
    return (
        ColumnEvidence("cells", filled, f"{len(cells):,} of {many(len(sampled.rows), 'cell')}"),
        ColumnEvidence("rows", apart, f"{distinct:,} distinct"),
    )
