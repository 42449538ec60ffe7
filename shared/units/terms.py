"""Quantities as terms of an index: one text for all spellings of a quantity. Pure."""

from shared.units.names import read
from shared.units.quantity import BARE, Quantity


def term(quantity: Quantity) -> str:
    """Return the term of a quantity. It has no spaces, and its last character keeps stemming away from it."""
    return quantity.generic.text.replace(" ", "_") + "_"


def indexed_quantities(text: str) -> list[str]:
    """Return every term under which a text is found: its quantities, and of packs and sides each measure alone."""
    terms: dict[str, None] = {}
    for quantity in read(text).quantities:
        terms[term(quantity)] = None
        for measure in quantity.measures:
            if measure.dimension != BARE:
                terms[term(Quantity((measure,)))] = None
    return list(terms)
