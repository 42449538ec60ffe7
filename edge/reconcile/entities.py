"""The entities of reconciliation: their types, their properties and their ids. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from shared.index.iid import canonical_iid


class EntityType(StrEnum):
    """What an entity is, and the id of that type."""

    ITEM = "item"
    BRAND = "brand"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class NamedTerm:
    """A type or property: its id, its name, and a sentence."""

    id: str
    name: str
    sentence: str

    @property
    def reference(self) -> dict[str, str]:
        """The id and the name, as answers name it."""
        return {"id": self.id, "name": self.name}

    @property
    def suggestion(self) -> dict[str, str]:
        """The same with the sentence."""
        return {**self.reference, "description": self.sentence}


TYPES = {
    EntityType.ITEM: NamedTerm(EntityType.ITEM, "Item", "An article, whichever shops sell it"),
    EntityType.BRAND: NamedTerm(EntityType.BRAND, "Brand", "A brand of items"),
    EntityType.CATEGORY: NamedTerm(EntityType.CATEGORY, "Category", "A category of items"),
}

PROPERTIES = tuple(
    NamedTerm(*one)
    for one in (
        ("gtin", "GTIN", "GTIN, EAN, UPC or ISBN of an item"),
        ("mpn", "Part number", "The maker's own number of an item"),
        ("brand", "Brand", "Name of an item's brand"),
        ("size", "Size", "What an item holds, such as 330 ml or 6 x 1 l"),
    )
)
"""What a query may say of an item beside its name."""


class EntityId(NamedTuple):
    """An entity: an item by its IID, a brand by its slug, a category by its code."""

    type: EntityType
    value: str

    def __str__(self) -> str:
        """Return the id: an IID as it is, others behind their type, as a slug may be a code too."""
        return self.value if self.type is EntityType.ITEM else f"{self.type}:{self.value}"


def read_entity_id(text: str) -> EntityId | None:
    """Return the entity of an id; None where the text has the form of none."""
    kind, colon, value = text.partition(":")
    if colon and value and kind in (EntityType.BRAND, EntityType.CATEGORY):
        return EntityId(EntityType(kind), value)
    iid = canonical_iid(text)
    return None if iid is None else EntityId(EntityType.ITEM, iid)
