"""The request of an export: its choices, its parameters, and the arguments of its queries. Pure."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from shared.bulk.schema import CHANGES, RELEASED, Column, Dataset
from shared.db.queries import load_queries
from shared.money import minor_exceptions
from shared.units.names import CONTENTS_RULE

if TYPE_CHECKING:
    from shared.db.connect import Row

FORMATS: dict[str, tuple[str, ...]] = {
    "parquet": ("zstd", "gzip", "none"),
    "csv": ("none", "gzip", "zstd"),
    "ndjson": ("none", "gzip", "zstd"),
    "arrow": ("none", "zstd"),
}
"""Each format with its compressions, the usual one first. Those of Parquet and Arrow are inside the file."""
JSON_COLUMNS = frozenset({"identifiers", "attributes", "sources"})
"""Text that is JSON: NDJSON has it as the value that it is."""
ROWS, GONE = "rows", "gone"
ID_END = 2**63 - 1
"""Keys of items are hashes of 63 bits; ranges end before this."""

_ITEM = frozenset({"brand", "category"})
GONE_ITEMS = Dataset(
    "gone",
    "Items whose rows a copy made before must drop.",
    (
        Column("iid", "string", "The item."),
        Column(
            "reason",
            "dictionary",
            "withdrawn, merged, removed (no load brings it), or outside: the filter does not hold it (any more).",
        ),
    ),
    ("iid",),
)
SMALL = ("brands", "categories", "merged")
"""Datasets that cannot be narrowed, and are read whole."""


class DatasetShape(NamedTuple):
    """How a dataset can be narrowed: by which filters, by `since`, and the column whose span names its files."""

    filters: frozenset[str]
    since: bool
    key: str


QUERIED: dict[str, DatasetShape] = {
    "items": DatasetShape(_ITEM, True, "iid"),
    "observations": DatasetShape(_ITEM | {"channel", "from", "to"}, True, "day"),
    "impacts": DatasetShape(_ITEM, True, "iid"),
    "brands": DatasetShape(frozenset(), False, "slug"),
    "categories": DatasetShape(frozenset(), False, "code"),
    "merged": DatasetShape(frozenset(), False, "from"),
}
"""The datasets that an export reads from the index or a release; the others are what changed between releases."""
SHAPES = QUERIED | {name: DatasetShape(frozenset(), True, dataset.order[0]) for name, dataset in CHANGES.items()}


def dataset_of(name: str, content: str) -> Dataset:
    """Return what a file of this content holds."""
    return RELEASED[name] if content == ROWS else GONE_ITEMS


ROWS_SQL = load_queries(__file__, "rows.sql")
FIRST_DAY, LAST_DAY = date(1, 1, 1), date(9999, 12, 31)
NO_MONTH = FIRST_DAY
"""Stands alone in a scope's months where nothing has changed: it has no rows, and an empty list would mean all."""


class _Filter(msgspec.Struct, frozen=True, rename={"first": "from", "last": "to"}):
    brand: list[str] = []
    category: list[str] = []
    channel: list[str] = []
    first: date = FIRST_DAY
    last: date = LAST_DAY


class _Parameters(msgspec.Struct, frozen=True):
    """The parameters of an export's job."""

    dataset: str
    columns: list[str]
    filter: _Filter
    since: int | None
    format: str
    compression: str
    until: int | None = None


class Request(NamedTuple):
    """One export, in its one spelling."""

    dataset: str
    columns: list[str]
    brand: list[str]
    category: list[str]
    channel: list[str]
    first: date
    last: date
    since: int | None
    format: str
    compression: str
    until: int | None = None

    @classmethod
    def read(cls, parameters: Mapping[str, object]) -> "Request":
        """Read a job's parameters. Raises msgspec.ValidationError if they are none of an export."""
        given = msgspec.convert(parameters, _Parameters)
        narrowed = given.filter
        return cls(
            given.dataset,
            given.columns,
            narrowed.brand,
            narrowed.category,
            narrowed.channel,
            narrowed.first,
            narrowed.last,
            given.since,
            given.format,
            given.compression,
            given.until,
        )


class ReadScope(NamedTuple):
    """A request in one snapshot: ids instead of names, and the months in which anything can have changed.

    None instead of ids: a name was asked for, and this snapshot has none of them any more.
    """

    since: int
    brand_ids: list[int]
    category_ids: list[int]
    channel_ids: list[int]
    first: date
    last: date
    months: list[date]

    def of_items(self, id_from: int, id_to: int) -> list[object]:
        """Return the arguments of what is narrowed by items."""
        return [id_from, id_to, self.since, self.brand_ids, self.category_ids]


def arguments(dataset: str, scope: ReadScope, id_from: int, id_to: int) -> list[object]:
    """Return the arguments of a dataset's query in rows.sql."""
    if dataset in SMALL:
        return []
    of_items = scope.of_items(id_from, id_to)
    if dataset != "observations":
        return of_items
    currencies = minor_exceptions()
    narrowed = [scope.first, scope.last, scope.channel_ids, scope.months]
    return [*of_items, *narrowed, list(currencies), list(currencies.values()), CONTENTS_RULE]


class FetchRows(Protocol):
    """Runs a query and returns all its rows."""

    def __call__(self, query: str, *arguments: object) -> "list[Row]": ...


def read_scope(rows: FetchRows, request: Request) -> ReadScope:
    """Return what the request means in one snapshot; `rows` runs a query there and returns all its rows."""
    [named] = rows(ROWS_SQL.named, request.brand, request.category, request.channel)
    months = None
    if request.since is not None:
        [(known, changed)] = rows(ROWS_SQL.months_since, request.since)
        months = list(changed) if known else None
    return scope_of(request, named, months)


def scope_of(request: Request, named: Iterable[Iterable[str]], months: list[str] | None) -> ReadScope:
    """Return what a request means where `named` are the ids of its names and `months` those that changed (None: any).

    Ids and months are text, as the queries return them.
    A name that was asked for and is not there must not widen the export to all: no id is 0.
    """
    brands, categories, channels = ([int(id) for id in ids] for ids in named)
    by_item = bool(request.brand or request.category)
    return ReadScope(
        request.since or 0,
        brands or ([0] if request.brand else []),
        categories or ([0] if request.category else []),
        channels or ([0] if request.channel else []),
        request.first,
        request.last,
        # An item that has come into a filter comes with all of its history, not only with the months that changed.
        [] if months is None or by_item else [date.fromisoformat(month) for month in months] or [NO_MONTH],
    )


def count_query(dataset: str, scope: ReadScope, most: int) -> tuple[str, list[object]]:
    """Return the query that says how many rows a request means, and its arguments; counting stops at `most`."""
    if dataset == "observations":
        return ROWS_SQL.observations_estimate, [
            scope.first,
            scope.last,
            scope.brand_ids,
            scope.category_ids,
            scope.channel_ids,
            scope.months,
        ]
    if dataset in SMALL:
        return ROWS_SQL.small_count, [dataset]
    query: str = getattr(ROWS_SQL, f"{dataset}_count")
    return query, [*scope.of_items(0, ID_END), most]
