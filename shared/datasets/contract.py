"""The datasets, each declared once: its columns, what they mean, by what it can be narrowed. Pure."""

from dataclasses import dataclass
from typing import Literal

Type = Literal["text", "category", "date", "timestamp", "int32", "int64", "double", "money", "json"]
FORMATS: dict[str, tuple[str, ...]] = {
    "parquet": ("zstd", "gzip", "none"),
    "csv": ("none", "gzip", "zstd"),
    "ndjson": ("none", "gzip", "zstd"),
    "arrow": ("none", "zstd"),
}
"""Each format with the compressions it can have, the usual one first. Those of Parquet and Arrow are inside the file."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `category` is text of few values, `money` an amount in the row's currency, `json` a JSON value."""

    name: str
    type: Type
    sentence: str
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset: `key` names the column by which files are told apart, `filters` what it can be narrowed by."""

    name: str
    sentence: str
    key: str
    columns: tuple[Column, ...]
    filters: frozenset[str] = frozenset()
    since: bool = False

    def chosen(self, names: list[str] | None) -> tuple[Column, ...]:
        """Return the columns of these names, in their order; all of them where none are named."""
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name] for name in names) if names else self.columns


_IID = Column("iid", "text", "The item's IID")
_SOURCE = Column("source", "category", "Where it comes from")

ITEMS = Dataset(
    "items", "Every active item with what is known of it", "iid",
    (
        _IID,
        Column("name", "text", "Its name"),
        Column("alt_names", "json", "Its other names, a JSON array"),
        Column("brand", "category", "Its brand's slug", True),
        Column("brand_name", "category", "Its brand's name", True),
        Column("category", "category", "Its category's code", True),
        Column("product_type", "category", "Its product type", True),
        Column("identifiers", "json", "Other identifiers, a JSON array of scheme and value"),
        Column("attributes", "json", "Attributes as the source has them, a JSON object"),
        Column("version", "int32", "The version of its record"),
        Column("first_seen_on", "date", "The first day it was observed on"),
        Column("updated_at", "timestamp", "When its record changed last"),
        Column("data_version", "int64", "The data_version of that change"),
    ),
    frozenset({"brand", "category"}), since=True,
)  # fmt: skip
OBSERVATIONS = Dataset(
    "observations", "Every price seen and every sale of the active items", "day",
    (
        _IID,
        Column("day", "date", "The day of the observation"),
        Column("channel", "category", "Where it was observed"),
        Column("kind", "category", "`listing` (an offer seen) or `sale`"),
        Column("price", "money", "The price, in `currency`"),
        Column("list_price", "money", "The price before a discount, in `currency`", True),
        Column("currency", "category", "ISO 4217"),
        Column("units", "int32", "How many units"),
        _SOURCE,
    ),
    frozenset({"brand", "category", "channel", "from", "to"}), since=True,
)  # fmt: skip
IMPACTS = Dataset(
    "impacts", "What the active items cost the planet, per unit, where a source says so", "iid",
    (
        _IID,
        Column("indicator", "category", "co2e_kg, water_l or waste_kg"),
        Column("per_unit", "double", "Its amount for one unit of the item"),
        Column("basis", "category", "`measured` or `modelled`"),
        Column("method", "text", "How it was found"),
        _SOURCE,
        Column("as_of", "date", "The day the figure is of"),
    ),
    frozenset({"brand", "category"}), since=True,
)  # fmt: skip
BRANDS = Dataset(
    "brands", "Every brand", "slug",
    (
        Column("id", "int32", "The brand's id"),
        Column("slug", "text", "Its slug"),
        Column("name", "text", "Its name"),
        Column("item_count", "int64", "Active items"),
        Column("top_categories", "json", "Its five largest categories, a JSON array of codes"),
        Column("channels", "json", "The channels it was seen in, a JSON array"),
        Column("first_seen_on", "date", "The first day one of its items was observed on", True),
        Column("updated_at", "timestamp", "When its figures changed last"),
    ),
)  # fmt: skip
CATEGORIES = Dataset(
    "categories", "The tree of categories", "code",
    (
        Column("code", "text", "The category's code"),
        Column("path", "json", "Its names from the root on, a JSON array"),
    ),
)  # fmt: skip
DATASETS: dict[str, Dataset] = {one.name: one for one in (ITEMS, OBSERVATIONS, IMPACTS, BRANDS, CATEGORIES)}

GONE = Dataset(
    "gone", "Items whose rows are to be removed from a copy made before", "iid",
    (
        _IID,
        Column("reason", "category", "`withdrawn`, `merged`, or `outside`: the filter does not hold it any more"),
        Column("survivor_iid", "text", "The IID that a merged item lives on under", True),
    ),
)  # fmt: skip
