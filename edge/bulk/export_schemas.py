"""Parameters and answers of /index/exports, declared once."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.analytics.envelope import Day
from edge.bulk.release_schemas import DatasetColumn
from edge.http.envelope import ListEnvelope
from edge.http.parameters import CursorText, Flag, JsonInteger, Parameters, Utf8, WholeNumber
from edge.jobs.schemas import STATES, Job
from shared.bulk.request import FORMATS, SHAPES
from shared.bulk.schema import DATASETS

_NAMES_MAX = 100
_COMPRESSIONS = sorted({name for names in FORMATS.values() for name in names})


class Names(fields.List[Any]):
    """A name, or a list of names."""

    def __init__(self, field: fields.Field[Any], sentence: str) -> None:
        super().__init__(field, validate=validate.Length(1, _NAMES_MAX), metadata={"description": sentence})

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any) -> Any:
        return super()._deserialize([value] if isinstance(value, str) else value, attr, data, **options)


class ExportFilter(Parameters):
    """Filters of the rows; of several names of one kind, any may match."""

    brand = Names(Utf8(1, 200), "Brands (slugs)")
    category = Names(Utf8(1, 400), "Categories (codes) and those below them")
    channel = Names(Utf8(1, 200), "Channels; only observations have them")
    from_ = Day(data_key="from", metadata={"description": "First day; only observations have days"})
    to = Day(metadata={"description": "Last day, inclusive"})

    @validates_schema
    def in_order(self, data: Mapping[str, Any], **options: Any) -> None:
        """The first day must not come after the last."""
        if "from_" in data and "to" in data and data["from_"] > data["to"]:
            raise ValidationError("must not be before `from`", "to")


class NewExport(Parameters):
    """An order of an export."""

    dataset = fields.Str(required=True, validate=validate.OneOf(list(DATASETS)), metadata={"example": "observations"})
    columns = fields.List(
        fields.Str(),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, 50),
        metadata={"description": "Names of columns; in the order of the file; all columns if absent"},
    )
    filter = fields.Nested(ExportFilter(), load_default=dict)
    since = JsonInteger(
        1,
        2**63 - 1,
        load_default=None,
        allow_none=True,
        metadata={"description": "Only rows that changed after this data_version; with a file of removed items"},
    )
    format = fields.Str(load_default="parquet", validate=validate.OneOf(list(FORMATS)))
    compression = fields.Str(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(_COMPRESSIONS),
        metadata={"description": "Compression of the files; default: zstd inside Parquet, none for the others"},
    )

    @validates_schema
    def fits(self, data: Mapping[str, Any], **options: Any) -> None:
        """Columns, filters, `since` and compression must be those of the dataset and the format."""
        dataset, shape = DATASETS[data["dataset"]], SHAPES[data["dataset"]]
        faults: dict[str, Any] = {}
        known = [column.name for column in dataset.columns]
        columns = data["columns"] or []
        if set(columns) - set(known):
            faults["columns"] = f"names a column that {dataset.name} have not; allowed are: {', '.join(known)}"
        elif len(set(columns)) < len(columns):
            faults["columns"] = "names a column twice"
        requested = {"from" if name == "from_" else name for name in data["filter"]}
        for name in sorted(requested - shape.filters):
            allowed = ", ".join(sorted(shape.filters)) or "none"
            faults[f"filter.{name}"] = f"is no filter of {dataset.name}; allowed are: {allowed}"
        if data["since"] is not None and not shape.since:
            datasets = ", ".join(name for name, other in SHAPES.items() if other.since)
            faults["since"] = f"is accepted for {datasets}; {dataset.name} are few: export all of them"
        if data["compression"] and data["compression"] not in FORMATS[data["format"]]:
            faults["compression"] = (
                f"is no compression of {data['format']}; allowed are: {', '.join(FORMATS[data['format']])}"
            )
        if faults:
            raise ValidationError(faults)


class NewExportQuery(Parameters):
    """How the order is meant."""

    dry_run = Flag(
        load_default=False, metadata={"description": "Return the cost and the estimated content; charge nothing"}
    )
    preview = Flag(load_default=False, metadata={"description": "As `dry_run`, with the first ten rows"})


class ExportsQuery(Parameters):
    """Query of the list of exports."""

    state = fields.Str(load_default=None, validate=validate.OneOf(STATES), metadata={"description": "Only this state"})
    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class ExportPath(Parameters):
    """Path of one export."""

    id = fields.Str(
        required=True,
        metadata={"description": "Its id", "format": "uuid", "example": "019aa2b4-5c10-7f7e-8a55-0a5f3b1c9d21"},
    )


class FilePath(ExportPath):
    """Path of one file."""

    file = fields.Str(required=True, metadata={"description": "Its name", "example": "items-00001.parquet"})


class ExportFile(Schema):
    """One file. `content` is `rows`, or `gone`: items whose rows an earlier copy must drop."""

    name = fields.Str(required=True)
    url = fields.Url(required=True)
    signed_url = fields.Url(
        required=True, metadata={"description": "Address for tools that send no header; valid until `signed_until`"}
    )
    content = fields.Str(required=True, validate=validate.OneOf(["rows", "gone"]))
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True)
    min_key = fields.Str(required=True, allow_none=True)
    max_key = fields.Str(required=True, allow_none=True)


class ExportManifest(Schema):
    """Contents of an export. With `since`, rows replace those of the same items; observations in `months` or all."""

    dataset = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    format = fields.Str(required=True)
    compression = fields.Str(required=True)
    media_type = fields.Str(required=True)
    data_version = fields.Int(required=True)
    since = fields.Int(required=True, allow_none=True)
    months = fields.List(
        fields.Date(), required=True, metadata={"description": "Months with changes; empty where nothing has changed"}
    )
    all_months = fields.Bool(
        required=True, metadata={"description": "Whether rows replace those of all months; `months` is empty then"}
    )
    formula_prefix = fields.Str(
        required=True,
        allow_none=True,
        metadata={
            "description": "Stands before texts of CSV that a spreadsheet would run; they begin with = + - @, tab or "
            "line break and are no negative number. Take it away for the text itself. Null in other formats."
        },
    )
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True)
    signed_until = fields.DateTime(required=True)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    files = fields.List(fields.Nested(ExportFile()), required=True)


class ListedExport(Job):
    """One export; its job and its order."""

    request = fields.Dict(required=True, metadata={"description": "Order in its normal form"})


class Export(ListedExport):
    """One export, with its files once it is complete."""

    manifest = fields.Nested(ExportManifest(), required=True, allow_none=True)


class ExportList(ListEnvelope):
    """One page of exports, the newest first."""

    data = fields.List(fields.Nested(ListedExport()), required=True)


class ExportEstimate(Schema):
    """Cost and size of an order. `rows_relation` is `about` for an estimate, and `gte` if counting stopped early."""

    cost_units = fields.Int(required=True)
    rows = fields.Int(required=True)
    rows_relation = fields.Str(required=True, validate=validate.OneOf(["eq", "gte", "about"]))
    data_version = fields.Int(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    request = fields.Dict(required=True)
    preview = fields.List(fields.Dict(), required=True, allow_none=True)
