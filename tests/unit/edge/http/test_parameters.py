"""Parameters take what their documents say, and not what Python's readers would take besides."""

import pytest
from marshmallow import Schema, ValidationError, fields

from edge.analytics.schemas import DisplacementQuery
from edge.bulk.delta_sharing_schemas import VersionQuery
from edge.http.parameters import Choices
from edge.http.validation import problem_of_validation
from edge.index.resolve_schemas import IdentifierFields


@pytest.mark.parametrize(
    ("schema", "name", "text"),
    [
        (DisplacementQuery, "displacement_rate", "0_1"),
        (DisplacementQuery, "displacement_rate", " 0.1"),
        (DisplacementQuery, "displacement_rate", "\u0660.\u0661"),
        (IdentifierFields, "source", "north\n"),
        (VersionQuery, "startingTimestamp", "0001-01-01T00:00:00+14:00"),
        (VersionQuery, "startingTimestamp", "9999-12-31T23:00:00-14:00"),
    ],
)
def test_what_only_looks_like_a_value_is_refused(schema: type[Schema], name: str, text: str) -> None:
    with pytest.raises(ValidationError):
        schema().load({name: text})


def test_values_of_a_choice_count_once_and_no_more_are_sent_than_the_document_says() -> None:
    choices = Choices(["brand", "category"], "Count by these")
    assert choices.deserialize(["brand,brand"]) == ["brand"]
    assert choices.deserialize(["category", "brand"]) == ["category", "brand"]
    with pytest.raises(ValidationError, match="at most 2 values"):
        choices.deserialize(["brand", "brand,brand"])


def test_a_rate_is_any_usual_spelling_of_a_number() -> None:
    for text, rate in (("0.5", 0.5), (".5", 0.5), ("1", 1.0), ("1.", 1.0), ("5e-1", 0.5)):
        assert DisplacementQuery().load({"displacement_rate": text})["displacement_rate"] == rate, text


@pytest.mark.parametrize(
    ("body", "name"), [([], "body"), ({"filter": []}, "filter"), ({"filter": {"top": 1}}, "filter.top")]
)
def test_what_is_no_object_is_named_where_it_stands(body: object, name: str) -> None:
    schema = Schema.from_dict({"filter": fields.Nested(Schema.from_dict({"brand": fields.Str()}))})()
    with pytest.raises(ValidationError) as raised:
        schema.load(body)  # type: ignore[arg-type]
    error = ValidationError({"json": raised.value.messages})
    assert [fault["parameter"] for fault in problem_of_validation(error, schema).extra["errors"]] == [name]
