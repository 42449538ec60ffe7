"""What is made ahead comes in its order, and its thread ends with the iteration."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from shared.errors import LoadRefused
from workers.ingest.load import prefetch as prefetching
from workers.ingest.load.prefetch import alternate, prefetch


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "read-ahead"]


def test_all_values_come_in_their_order() -> None:
    assert list(prefetch(iter(range(100)))) == list(range(100))
    assert _threads() == []


def test_the_thread_ends_when_the_consumer_fails_with_a_full_queue() -> None:
    with closing(prefetch(iter(range(1_000)))) as values:
        assert next(values) == 0
        assert _threads() == ["read-ahead"]
    assert _threads() == []


def test_an_error_of_the_maker_reaches_the_consumer() -> None:
    def made() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    values = prefetch(made())
    assert next(values) == 1
    with pytest.raises(ValueError, match="broken"):
        next(values)
    assert _threads() == []


def test_a_load_that_is_not_wanted_ends_while_a_reader_is_within_a_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetching, "_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(prefetching, "_ENDING_SECONDS", 0.05)
    parsed, asked = threading.Event(), list[int]()

    def sheet() -> Iterator[int]:
        parsed.wait(30)
        yield 1

    def check() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise LoadRefused("no more of it")

    with pytest.raises(LoadRefused, match="no more"):
        list(prefetch(sheet(), check))
    [reader] = [thread for thread in threading.enumerate() if thread.name == "read-ahead"]
    parsed.set()
    reader.join(30)
    assert not reader.is_alive()


def test_two_kinds_alternate_and_the_longer_one_ends() -> None:
    assert list(alternate(iter("abc"), iter("12345"))) == ["a", "1", "b", "2", "c", "3", "4", "5"]
    assert list(alternate(iter("abc"), iter("1"))) == ["a", "1", "b", "c"]
