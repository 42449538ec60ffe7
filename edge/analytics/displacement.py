"""The footprint that second-hand sales and repairs avoid: its parameters, and its part of an answer's meta."""

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from edge.http.parameters import DecimalNumber, Parameters
from shared.uncertainty.displacement import RATES


class DisplacementQuery(Parameters):
    """The parameter of every answer with footprints of sales: how many new items each of them displaces."""

    displacement = fields.Str(
        load_default=None,
        validate=validate.OneOf(list(RATES)),
        metadata={"description": "Add what the units sold avoid; with WRAP's rate of second-hand sales or repairs"},
    )
    displacement_rate = DecimalNumber(
        load_default=None,
        validate=validate.Range(0, 1),
        metadata={"description": "New items displaced by each unit sold; in place of `displacement`", "example": 0.5},
    )

    @validates_schema
    def one_rate(self, data: Mapping[str, Any], **options: Any) -> None:
        """A scenario is a rate, so that a second one beside it would contradict it."""
        if data.get("displacement") is not None and data.get("displacement_rate") is not None:
            raise ValidationError("cannot be given together with `displacement`", "displacement_rate")


class DisplacementMeta(Schema):
    """New items that each unit displaces; with the source of the number."""

    rate = fields.Float(required=True, metadata={"example": 0.646})
    citation = fields.Str(required=True)
