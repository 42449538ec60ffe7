"""Fields that rows with amounts share. Pure."""

from marshmallow import fields


def original_currency() -> fields.Str:
    """Declare the currency of a converted row's prices."""
    return fields.Str(metadata={"description": "Only with `convert`: the currency of the prices", "example": "HKD"})
