"""The bound of chunked framing."""

import pytest

from edge.http.middleware import framing_is_excessive


def chunked(body: bytes, size: int, extension: bytes = b"") -> int:
    """Return the bytes that a body takes on the wire in chunks of this size."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return sum(len(b"%x%b\r\n%b\r\n" % (len(part), extension, part)) for part in parts) + len(b"0\r\n\r\n")


@pytest.mark.parametrize("size", [1, 2, 7, 16, 1024, 65536])
@pytest.mark.parametrize("length", [0, 1, 5, 1000, 65536])
def test_a_body_of_any_length_in_chunks_of_any_size_is_within_the_bound(length: int, size: int) -> None:
    assert not framing_is_excessive(chunked(b"x" * length, size), length)


def test_a_signature_on_each_large_chunk_is_within_the_bound() -> None:
    assert not framing_is_excessive(chunked(b"x" * 65536, 8192, b";chunk-signature=" + b"a" * 64), 65536)


@pytest.mark.parametrize("extension", [10_000, 100_000, 1_000_000, 10_000_000])
def test_a_large_extension_of_a_small_body_is_beyond_the_bound(extension: int) -> None:
    assert framing_is_excessive(chunked(b"abcde", 5, b";" + b"a" * extension), 5)


def test_a_large_extension_of_the_largest_body_is_beyond_the_bound() -> None:
    assert framing_is_excessive(chunked(b"x" * 65536, 65536, b";" + b"a" * 400_000), 65536)
