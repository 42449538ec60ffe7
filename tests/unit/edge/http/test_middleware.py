"""The bound of chunked framing."""

from itertools import product

from edge.http.middleware import framing_is_excessive


def chunked(body: bytes, size: int, extension: bytes = b"") -> int:
    """Return the bytes that a body takes on the wire in chunks of this size."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return sum(len(b"%x%b\r\n%b\r\n" % (len(part), extension, part)) for part in parts) + len(b"0\r\n\r\n")


def test_a_body_of_any_length_in_chunks_of_any_size_is_within_the_bound() -> None:
    for length, size in product((0, 1, 5, 1000, 65536), (1, 2, 7, 16, 1024, 65536)):
        assert not framing_is_excessive(chunked(b"x" * length, size), length), (length, size)


def test_a_large_extension_is_beyond_the_bound() -> None:
    for length, extension in ((5, 10_000), (5, 10_000_000), (65_536, 400_000)):
        assert framing_is_excessive(chunked(b"x" * length, length, b";" + b"a" * extension), length), length


def test_a_signature_on_each_large_chunk_is_within_the_bound() -> None:
    assert not framing_is_excessive(chunked(b"x" * 65536, 8192, b";chunk-signature=" + b"a" * 64), 65536)
