"""Parameters and answers of /index/exports."""

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.bulk.release_schemas import DatasetColumn
from edge.http.lists import list_of
from edge.http.parameters import (
    CursorText,
    Day,
    Flag,
    JsonInteger,
    Members,
    Parameters,
    PathParameters,
    QueryParameters,
    Utf8,
    WholeNumber,
    field_doc,
    one_of,
)
from edge.http.validation import Query
from edge.jobs.schemas import STATES, Job
from shared.bulk.request import FORMATS, SHAPES
from shared.bulk.schema import CHANGES, RELEASED

_NAMES_MAX = 100
_COMPRESSIONS = sorted({name for names in FORMATS.values() for name in names})


class NamesField(fields.List[str]):
    """A name, or a list of names."""

    def __init__(self, field: fields.Field[str], sentence: str) -> None:
        super().__init__(field, validate=validate.Length(1, _NAMES_MAX), metadata=field_doc(sentence))

    def _deserialize(self, value: object, attr: str | None, data: Members, **options: object) -> list[str | None]:
        return super()._deserialize([value] if isinstance(value, str) else value, attr, data, **options)


class ExportFilter(Parameters):
    """Row filters; if a filter has several values, any of them may match."""

    brand = NamesField(Utf8(1, 200), "Brands (slugs)")
    category = NamesField(Utf8(1, 400), "Categories (codes), including their subcategories")
    channel = NamesField(Utf8(1, 200), "Channels; only observations have them")
    from_ = Day(data_key="from", metadata=field_doc("First day; only observations have days"))
    to = Day(metadata=field_doc("Last day, inclusive"))

    @validates_schema
    def in_order(self, data: Query, **options: object) -> None:
        """The first day must not come after the last."""
        if "from_" in data and "to" in data and data["from_"] > data["to"]:
            raise ValidationError("must not be before `from`", "to")


class NewExport(Parameters):
    """Request for an export."""

    dataset = fields.Str(required=True, validate=validate.OneOf(list(SHAPES)), metadata={"example": "observations"})
    columns = fields.List(
        fields.Str(),
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, 50),
        metadata=field_doc("Columns, in the order of the file; default: all columns"),
    )
    filter = fields.Nested(ExportFilter(), load_default=dict)
    since = JsonInteger(
        1,
        2**63 - 1,
        load_default=None,
        allow_none=True,
        metadata=field_doc("Only rows that changed after this data_version, with a file of removed items"),
    )
    until = JsonInteger(
        1,
        2**63 - 1,
        load_default=None,
        allow_none=True,
        metadata=field_doc("For datasets of changes: the release that they lead to; default: the newest"),
    )
    format = fields.Str(load_default="parquet", validate=validate.OneOf(list(FORMATS)))
    compression = fields.Str(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(_COMPRESSIONS),
        metadata=field_doc("Compression of the files; default: zstd inside Parquet, none for the others"),
    )

    @validates_schema
    def fits(self, data: Query, **options: object) -> None:
        """Columns, filters, `since` and compression must be those of the dataset and the format."""
        dataset, shape = RELEASED[data["dataset"]], SHAPES[data["dataset"]]
        faults: dict[str, str] = {}
        known = [column.name for column in dataset.columns]
        columns = data["columns"] or []
        if set(columns) - set(known):
            faults["columns"] = f"contains a column that {dataset.name} does not have; allowed: {', '.join(known)}"
        elif len(set(columns)) < len(columns):
            faults["columns"] = "contains a column twice"
        requested = {"from" if name == "from_" else name for name in data["filter"]}
        for name in sorted(requested - shape.filters):
            allowed = ", ".join(sorted(shape.filters)) or "none"
            faults[f"filter.{name}"] = f"is not a filter of {dataset.name}; allowed: {allowed}"
        if data["since"] is not None and not shape.since:
            datasets = ", ".join(name for name, other in SHAPES.items() if other.since)
            faults["since"] = f"is accepted only for {datasets}; export {dataset.name} as a whole"
        if dataset.name in CHANGES and data["since"] is None:
            faults["since"] = f"is required for {dataset.name}: the release from which changes are listed"
        if data["until"] is not None and dataset.name not in CHANGES:
            faults["until"] = f"is accepted only for {', '.join(CHANGES)}"
        if data["compression"] and data["compression"] not in FORMATS[data["format"]]:
            faults["compression"] = (
                f"is not a compression for {data['format']}; allowed: {', '.join(FORMATS[data['format']])}"
            )
        if faults:
            raise ValidationError(faults)


class NewExportQuery(QueryParameters):
    """How the order is meant."""

    dry_run = Flag(load_default=False, metadata=field_doc("Return the cost and the estimated content without charging"))
    preview = Flag(load_default=False, metadata=field_doc("Like `dry_run`, with the first ten rows"))


class ExportsQuery(QueryParameters):
    """Query of the list of exports."""

    state = one_of(STATES, "Only this state")
    limit = WholeNumber(1, 200, load_default=50)
    cursor = CursorText()


class ExportPath(PathParameters):
    """Path of one export."""

    id = fields.Str(
        required=True, metadata=field_doc("Its id", format="uuid", example="019aa2b4-5c10-7f7e-8a55-0a5f3b1c9d21")
    )


class FilePath(ExportPath):
    """Path of one file."""

    file = fields.Str(required=True, metadata=field_doc("Its name", example="items-00001.parquet"))


class ExportFile(Schema):
    """One file. `content` is `rows`, or `gone`: items whose rows must be deleted from an earlier copy."""

    name = fields.Str(required=True)
    url = fields.Url(required=True)
    signed_url = fields.Url(
        required=True, metadata=field_doc("Signed URL that needs no header; valid until `signed_until`")
    )
    content = fields.Str(required=True, validate=validate.OneOf(["rows", "gone"]))
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    sha256 = fields.Str(required=True)
    min_key = fields.Str(required=True, allow_none=True)
    max_key = fields.Str(required=True, allow_none=True)


class ExportManifest(Schema):
    """Contents of an export. With `since`, rows replace those of the same items (observations: in `months`, or all)."""

    dataset = fields.Str(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    format = fields.Str(required=True)
    compression = fields.Str(required=True)
    media_type = fields.Str(required=True)
    data_version = fields.Int(required=True)
    since = fields.Int(required=True, allow_none=True)
    months = fields.List(
        fields.Date(), required=True, metadata=field_doc("Months with changes; empty if nothing has changed")
    )
    all_months = fields.Bool(
        required=True, metadata=field_doc("Whether rows replace those of all months; then `months` is empty")
    )
    formula_prefix = fields.Str(
        required=True,
        allow_none=True,
        metadata=field_doc(
            "Prefix of CSV texts that a spreadsheet would run as formulas: those that begin with =, +, "
            "-, @, a tab or a line break, also after apostrophes, and are not negative numbers. Remove one to get "
            "the text. Null in other formats."
        ),
    )
    created_at = fields.DateTime(required=True)
    expires_at = fields.DateTime(required=True)
    signed_until = fields.DateTime(required=True)
    rows = fields.Int(required=True)
    bytes = fields.Int(required=True)
    files = fields.List(fields.Nested(ExportFile()), required=True)


class ListedExport(Job):
    """One export: its job and its request."""

    request = fields.Dict(required=True, metadata=field_doc("The request in canonical form"))


class Export(ListedExport):
    """One export, with its files once it is complete."""

    manifest = fields.Nested(ExportManifest(), required=True, allow_none=True)


class ExportEstimate(Schema):
    """Cost and size of an export. `rows_relation` is `about` for an estimate, and `gte` if counting stopped early."""

    cost_units = fields.Int(required=True)
    rows = fields.Int(required=True)
    rows_relation = fields.Str(required=True, validate=validate.OneOf(["eq", "gte", "about"]))
    data_version = fields.Int(required=True)
    schema = fields.List(fields.Nested(DatasetColumn()), required=True)
    request = fields.Dict(required=True)
    preview = fields.List(fields.Dict(), required=True, allow_none=True)


ExportList = list_of(ListedExport, "ExportList", "One page of exports, newest first.")
