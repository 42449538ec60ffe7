"""The datasets: their columns, Arrow types and order, each declared once. Pure."""

from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:
    import pyarrow as pa

# The datasets: their columns, types and order, each declared once. Pure.
# Types are those of Delta Sharing's schemas, so that one declaration serves the manifest, the protocol and the files;
# `dictionary` is a string whose few values are kept once.


MONEY = "decimal(20,4)"
"""Twenty digits hold the largest amount of the index with the four minor digits that a currency may have."""
UNIT_PRICE = "decimal(38,6)"
"""The price of one unit of a content, rounded once, half to even; six decimals as in price histories."""
LIST = "array<string>"

REASONS = ("source", "merge", "split", "withdrawal", "outlier-flag")
PREFIX = "releases/"
MEDIA_TYPE = "application/vnd.apache.parquet"


class Column(NamedTuple):
    """One column: its type, and a sentence for readers."""

    name: str
    type: str
    sentence: str
    nullable: bool = False


class Dataset(NamedTuple):
    """One table. Rows are in the order of `order`; files never split what has the same first column of it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    order: tuple[str, ...]
    split_by: str = ""


class ColumnDocument(TypedDict):
    """A column as manifests list it."""

    name: str
    type: str
    nullable: bool
    description: str


StatisticValue = str | int | float
"""A value of a column as JSON has it; days are text."""


class FileStatistics(TypedDict):
    """What readers leave files out by, as Delta Sharing writes it: of columns that are not too wide."""

    numRecords: int
    minValues: dict[str, StatisticValue]
    maxValues: dict[str, StatisticValue]
    nullCount: dict[str, int]


class KeptReleaseFile(NamedTuple):
    """One file of a release. Keys are those of its first and last row, in the order of the files."""

    name: str
    sha256: str
    rows: int
    bytes: int
    min_key: str
    max_key: str
    statistics: FileStatistics


_ITEMS = Dataset(
    "items",
    "Every item that has not been withdrawn.",
    (
        Column("iid", "string", "The item's identifier."),
        Column("name", "string", "Its name."),
        Column("alt_names", LIST, "Other names, such as those in other languages."),
        Column("status", "dictionary", "active, or merged into `survivor_iid`."),
        Column("survivor_iid", "string", "The item that a merged one lives on in.", True),
        Column("brand", "dictionary", "Name of the brand.", True),
        Column("brand_slug", "dictionary", "The brand's slug, as in `brands`.", True),
        Column("category", "dictionary", "The category's code, as in `categories`.", True),
        Column("product_type", "dictionary", "The kind of article.", True),
        Column("identifiers", "string", "JSON: the item's other identifiers, each with scheme and value."),
        Column("attributes", "string", "JSON: size, colour, weight and more, as the source has them."),
        Column("version", "integer", "Grows with each change of the record."),
        Column("first_seen_on", "date", "The first day that it was known."),
        Column("updated_at", "timestamp", "When the record changed last."),
        Column("sources", "string", "JSON: each source that names the item, its own id of it, license, observed_at."),
    ),
    ("iid",),
)
_OBSERVATIONS = Dataset(
    "observations",
    "Every observed price, one row per observation.",
    (
        Column("iid", "string", "The item."),
        Column("day", "date", "The day it was observed."),
        Column("channel", "dictionary", "Where: a shop or a marketplace."),
        Column("kind", "dictionary", "listing (an offer seen) or sale."),
        Column("source", "dictionary", "The source of the observation; terms are at each item's sources."),
        Column("currency", "dictionary", "ISO 4217."),
        Column("price", MONEY, "The price of one unit."),
        Column("price_minor", "long", "The same in minor units of the currency, as an exact integer."),
        Column("list_price", MONEY, "The price before a reduction.", True),
        Column("list_minor", "long", "The same in minor units.", True),
        Column("units", "integer", "How many units it stands for."),
        Column(
            "outlier",
            "dictionary",
            "Why statistics set it aside: the likely cause of a price off its neighbours.",
            True,
        ),
        Column(
            "unit_price",
            UNIT_PRICE,
            "The price of one `unit_price_per` of the content that the item's name or attributes state, or null.",
            True,
        ),
        Column("unit_price_per", "dictionary", "What the unit price is for: kg, l, piece or m.", True),
    ),
    ("iid", "day", "channel"),
    "month",
)
_IMPACTS = Dataset(
    "impacts",
    "Footprints from the items' own figures, per unit.",
    (
        Column("iid", "string", "The item."),
        Column("indicator", "dictionary", "The indicator's code, such as co2e_kg, water_l or waste_kg."),
        Column("per_unit", "double", "The amount per unit."),
        Column("basis", "dictionary", "measured or modelled."),
        Column("method", "dictionary", "How it was determined."),
        Column("source", "dictionary", "The source of the figure."),
        Column("as_of", "date", "The day of the figure."),
        Column("pedigree", "dictionary", "The source's scores of the pedigree matrix, such as (2,3,1,2,4).", True),
        Column("reference_year", "integer", "The year to which the source assigns the figure.", True),
    ),
    ("iid", "indicator"),
)
_BRANDS = Dataset(
    "brands",
    "Brands and their share of the index.",
    (
        Column("slug", "string", "The brand's key."),
        Column("name", "string", "Its name."),
        Column("item_count", "long", "Active items."),
        Column("top_categories", LIST, "Codes of the categories with most of its items."),
        Column("channels", LIST, "Where its items were observed."),
        Column("first_seen_on", "date", "The first day that one of its items was known.", True),
    ),
    ("slug",),
)
_CATEGORIES = Dataset(
    "categories",
    "The tree of categories.",
    (
        Column("code", "string", "The category's key; levels are joined with dots."),
        Column("parent", "string", "The code of the category above.", True),
        Column("path", LIST, "Names from the top down."),
        Column("level", "integer", "1 is the top."),
        Column("item_count", "long", "Active items of exactly this category."),
    ),
    ("code",),
)
_MERGED = Dataset(
    "merged",
    "Items merged into another item's record.",
    (
        Column("from", "string", "The item's identifier, which redirects."),
        Column("to", "string", "The item that it redirects to."),
        Column(
            "reason", "dictionary", "identifier, likeness, source (its own source says so), review or merge (a person)."
        ),
        Column("data_version", "long", "Since which data_version; 0: before this was kept."),
    ),
    ("from",),
)
_TRAINING_PAIRS = Dataset(
    "training_pairs",
    "Pairs labelled as the same item or different items, by review decisions and links of merged items.",
    (
        Column("left_iid", "string", "One item, as in `items`."),
        Column("right_iid", "string", "The other item."),
        Column("label", "dictionary", "match or no_match."),
        Column(
            "known_by",
            "dictionary",
            "review or merge (a person decided), identifier (both have the same) or likeness (the service decided).",
        ),
        Column(
            "score", "double", "How alike the service found them, from 0 to 1; null: it did not compare them.", True
        ),
        Column("left_survivor_iid", "string", "The item that the first one is part of, as in `cards`."),
        Column("right_survivor_iid", "string", "The item that the other one is part of."),
        Column(
            "split", "dictionary", "train, validation or test; null: the two survivors are of different ones.", True
        ),
    ),
    ("left_iid", "right_iid"),
)
_CARDS = Dataset(
    "cards",
    "One text per active item, with the fields it is made from.",
    (
        Column("iid", "string", "The item's identifier."),
        Column("name", "string", "Its name."),
        Column("brand", "dictionary", "Name of the brand.", True),
        Column("category", "dictionary", "The category's code, as in `categories`.", True),
        Column("category_path", LIST, "The category's names from the top down."),
        Column("attributes", "string", "JSON: size, colour, weight and more, as the source has them."),
        Column(
            "prices",
            "string",
            "JSON: for each currency and kind (listing, sale) the number of observations, the lowest and the highest "
            "price, the last day and its lowest price. No day is later than the data_version's own, in UTC; outliers "
            "are left out.",
        ),
        Column("text", "string", "Name, brand, category path, attributes and prices as plain text, one a line."),
        Column("split", "dictionary", "train, validation or test, by the IID alone."),
    ),
    ("iid",),
)
DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (_ITEMS, _OBSERVATIONS, _IMPACTS, _BRANDS, _CATEGORIES, _MERGED, _TRAINING_PAIRS, _CARDS)
}

# What changed from release to release: a dataset for each of the above, with its columns and these.


_CHANGE = (
    Column("_change_type", "dictionary", "insert, delete, or an update's row before (update_preimage) and after it "
           "(update_postimage)."),
    Column("_change_reason", "dictionary", f"Why: {', '.join(REASONS)}."),
    Column("_data_version", "long", "The release that the row changed in."),
)  # fmt: skip


def changes_of(name: str) -> str:
    """Return the name of the dataset that holds a dataset's changes."""
    return f"{name}_changes"


# A column that came later is null in the changes before it.
CHANGES: dict[str, Dataset] = {
    changes_of(name): Dataset(
        changes_of(name),
        f"What changed in {name} from release to release, and why.",
        (*(column._replace(nullable=True) for column in dataset.columns), *_CHANGE),
        dataset.order,
    )
    for name, dataset in DATASETS.items()
}
RELEASED = DATASETS | CHANGES


def key_of(sha256: str) -> str:
    """Return a file's key in the object store: by its content, so that releases share unchanged files."""
    return f"{PREFIX}{sha256}.parquet"


def catalogue_key(sha256: str) -> str:
    """Return the key of a catalogue of releases in the object store."""
    return f"catalogues/{sha256}.ducklake"


def sha256_of(key: str) -> str:
    """Return the digest that a key is made of."""
    return key.removeprefix(PREFIX).removesuffix(".parquet")


def version_of(file_name: str) -> int:
    """Return the release whose changes a file of a dataset of changes holds."""
    return int(file_name.partition("-")[0])


def schema_of(dataset: Dataset) -> list[ColumnDocument]:
    """Return the columns as a manifest lists them."""
    return [
        {
            "name": column.name,
            "type": "string" if column.type == "dictionary" else column.type,
            "nullable": column.nullable,
            "description": column.sentence,
        }
        for column in dataset.columns
    ]


def arrow_schema(dataset: Dataset) -> "pa.Schema":
    """Return the schema of a dataset's files."""
    import pyarrow as pa  # only now: the dispatcher, the lightest part, reads manifests and no rows

    types = {
        "string": pa.string(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "integer": pa.int32(),
        "long": pa.int64(),
        "double": pa.float64(),
        MONEY: pa.decimal128(20, 4),
        UNIT_PRICE: pa.decimal128(38, 6),
        "array<string>": pa.list_(pa.string()),
    }
    return pa.schema([pa.field(c.name, types[c.type], nullable=c.nullable) for c in dataset.columns])
