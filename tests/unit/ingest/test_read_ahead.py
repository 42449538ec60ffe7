"""What is made ahead comes in its order, and its thread ends with the iteration."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from workers.ingest.readers import ahead, alternating


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "read-ahead"]


def test_all_values_come_in_their_order() -> None:
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert _threads() == []


def test_the_thread_ends_when_the_consumer_fails_with_a_full_queue() -> None:
    with closing(ahead(iter(range(1_000)))) as values:
        assert next(values) == 0
        assert _threads() == ["read-ahead"]
    assert _threads() == []


def test_an_error_of_the_maker_reaches_the_consumer() -> None:
    def made() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    values = ahead(made())
    assert next(values) == 1
    with pytest.raises(ValueError, match="broken"):
        next(values)
    assert _threads() == []


def test_two_kinds_alternate_and_the_longer_one_ends() -> None:
    assert list(alternating(iter("abc"), iter("12345"))) == ["a", "1", "b", "2", "c", "3", "4", "5"]
    assert list(alternating(iter("abc"), iter("1"))) == ["a", "1", "b", "c"]
