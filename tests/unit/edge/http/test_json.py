"""Bodies in JSON: what two decoders could read differently is refused."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.http.json import JSON_DEPTH_MAX, decode_json
from shared.errors import InvalidJson

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_text_of_pythons_own_encoder_is_read_as_it_was(value: object) -> None:
    assert decode_json(json.dumps(value)) == value
    assert decode_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":1}', '{"a":{"b":1,"c":2,"b":3}}', '[{"x":[{"a":1,"\\u0061":2}]}]', '{"":1,"":2}'],
)
def test_a_member_that_comes_twice_is_refused_at_any_depth(text: str) -> None:
    with pytest.raises(InvalidJson, match="twice"):
        decode_json(text)


def test_the_bound_on_nesting_is_exact() -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        decode_json(opening * JSON_DEPTH_MAX + "1" + closing * JSON_DEPTH_MAX)
        with pytest.raises(InvalidJson, match="nested"):
            decode_json(opening * (JSON_DEPTH_MAX + 1) + "1" + closing * (JSON_DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{'a':1}",
        "NaN",
        "[Infinity]",
        "1e999",
        '"\\ud800"',
        "01",
        "[1,]",
        "\ufeff{}",
        "[" * 60_000,
        '{"a":' * 9_000,
    ],
)
def test_malformed_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidJson):
        decode_json(text)


def test_a_number_of_any_length_ends_in_an_answer() -> None:
    with suppress(InvalidJson):
        decode_json('{"a":' + "9" * 50_000 + "}")
    assert decode_json("9" * 19) == int("9" * 19)
