"""Ids of requests: ours are ordered, and those of callers are taken over only when well-formed."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from edge.http.context import instance_of, request_id_from, uuid7


@given(st.text(max_size=100))
def test_a_request_id_is_taken_over_only_when_well_formed(text: str) -> None:
    taken = request_id_from(text)
    assert 8 <= len(taken) <= 64
    assert taken.replace("-", "").replace("_", "").isalnum()
    UUID(instance_of(taken).removeprefix("urn:uuid:"))


def test_a_uuid7_is_one_and_they_come_in_order() -> None:
    made = [uuid7() for _ in range(3)]
    assert {u.version for u in made} == {7}
    assert {u.variant for u in made} == {"specified in RFC 4122"}
