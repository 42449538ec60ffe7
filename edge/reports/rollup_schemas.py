"""Parameters and answer of the sustainability rollup, declared once."""

from marshmallow import fields, validate

from edge.analytics.displacement import DisplacementMeta, DisplacementQuery
from edge.http.parameters import Utf8
from edge.reports.rows import RollupRow
from edge.reports.schemas import Reply, ReportMeta, ReportQuery, granularity, groups, listed
from shared.footprint import BASES


class RollupQuery(DisplacementQuery, ReportQuery):
    """Query of a sustainability rollup."""

    granularity = granularity("month")
    group_by = groups("brand", "category", "channel")
    brand = listed(Utf8(1, 200), "Brand (slug); repeat for more: any of them", example="vitasoy")
    category = listed(Utf8(1, 400), "Category (code) and those below it; repeat for more: any of them")
    basis = fields.Str(
        load_default=None,
        validate=validate.OneOf(BASES),
        metadata={
            "description": "Multiply figures by units sold, or take each item once; default: sales where there are "
            "any, else the assortment"
        },
    )


class RollupMeta(ReportMeta):
    """The meta of a rollup."""

    displacement = fields.Nested(
        DisplacementMeta(), metadata={"description": "Rate of `avoided`; only with `displacement` or a rate"}
    )


class RollupReply(Reply):
    """A sustainability rollup."""

    meta = fields.Nested(RollupMeta())
    data = fields.List(fields.Nested(RollupRow()))
