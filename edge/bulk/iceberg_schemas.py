"""Parameters of the Iceberg catalogue."""

from marshmallow import fields

from edge.http.parameters import PathParameters, QueryParameters, field_doc


class IcebergConfigQuery(QueryParameters):
    """Query of the configuration."""

    warehouse = fields.Str(metadata=field_doc("Any name; there is only one warehouse"))


class IcebergPage(QueryParameters):
    """Query of lists, which are short: one page has them all."""

    parent = fields.Str(metadata=field_doc("Parent namespace; namespaces are not nested"))
    pageToken = fields.Str(metadata=field_doc("Not used"))  # noqa: N815
    pageSize = fields.Int(metadata=field_doc("Not used"))  # noqa: N815


class IcebergNamespacePath(PathParameters):
    """A namespace of the catalogue."""

    namespace = fields.Str(required=True, metadata=field_doc("`releases`"))


class IcebergTablePath(IcebergNamespacePath):
    """A table of the catalogue."""

    table = fields.Str(required=True, metadata=field_doc("A dataset"))


class IcebergTableQuery(QueryParameters):
    """Query of a table."""

    snapshots = fields.Str(metadata=field_doc("`all` or `refs`; the response is the same"))
