"""The text of a file: unpacked, bounded, as UTF-8, whatever it is packed and encoded with. Flat memory."""

import codecs
import re
from typing import Any, BinaryIO, Protocol, cast

import pyarrow as pa

from shared.errors import LoadRefused
from workers.ingest.batches import unpacks_to_more

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
# UTF-32 comes first: in little endian its mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_UTF8 = ("utf-8", "utf8", "utf_8")
# How XML begins where nothing else reveals its encoding (XML 1.0, appendix F): in two bytes a character, or as ASCII.
_XML_OF_TWO_BYTES = {b"<\0?\0": "utf-16-le", b"\0<\0?": "utf-16-be"}
_XML_DECLARATION = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")
_BEGINNING_BYTES = 1_024
_PEEKED_BYTES = 1 << 16
# A lone surrogate, which UTF-8 does not have: the row that holds it is found and rejected as one of broken UTF-8 is.
_UNDECODED = "\udcff"


def _mark_undecoded(error: UnicodeError) -> tuple[str, int]:
    return _UNDECODED, cast(UnicodeDecodeError, error).end


codecs.register_error("itemindex-mark", _mark_undecoded)


class ByteStream(Protocol):
    """A stream that can be read in pieces."""

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""


class BoundedStream:
    """A stream that ends the reading where one row takes too much of it: what is made of the row grows in memory.

    Its reader sets `read_since_row` to 0 at each row. `missing` says in the refusal what there was none of.
    """

    def __init__(self, name: str, stream: ByteStream, bytes_max: int, missing: str) -> None:
        self._name, self._stream, self._bytes_max, self._missing = name, stream, bytes_max, missing
        self.read_since_row = 0

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""
        chunk = self._stream.read(size)
        self.read_since_row += len(chunk)
        if self.read_since_row > self._bytes_max:
            raise LoadRefused(f"{self._name}: more than {self._bytes_max:,} bytes without {self._missing}")
        return chunk


class TextStream:
    """Reads a file as UTF-8 without a byte order mark; `beginning` is what one may look at before.

    Raises LoadRefused when the file unpacks to more than is allowed.
    """

    def __init__(self, name: str, file: BinaryIO, encoding: str, bytes_max: int) -> None:
        head = file.read(4)
        file.seek(0)
        codec = next((codec for magic, codec in _MAGIC.items() if head.startswith(magic)), None)
        source: Any = pa.PythonFile(file, mode="r")
        self._stream = pa.CompressedInputStream(source, codec) if codec else source
        self._name = name
        self._left = bytes_max
        self._bytes_max = bytes_max
        self._begun = False
        self._encoding = encoding
        self._decoder: Any = None
        self.beginning = b""
        while len(self.beginning) < _PEEKED_BYTES and (chunk := self._decode(_PEEKED_BYTES)):
            self.beginning += chunk
        self._rest = self.beginning

    def read(self, size: int) -> bytes:
        """Return some bytes of UTF-8; none at the end. Bytes that the encoding does not have become invalid UTF-8."""
        if not self._rest:
            return self._decode(size)
        chunk, self._rest = self._rest[:size], self._rest[size:]
        return chunk

    def _decode(self, size: int) -> bytes:
        while True:
            chunk = cast(bytes, self._stream.read(size))
            self._left -= len(chunk)
            if self._left < 0:
                raise LoadRefused(f"{self._name}: {unpacks_to_more(self._bytes_max)}")
            if not self._begun:
                chunk = self._begin(chunk)
            if self._decoder is None:
                return chunk
            text = self._decoder.decode(chunk, final=not chunk)
            if text or not chunk:
                return cast(bytes, text.encode("utf-8", "surrogatepass"))

    def _begin(self, chunk: bytes) -> bytes:
        """Choose the encoding by the byte order mark, else by the mapping, else by what XML declares."""
        self._begun = True
        while 0 < len(chunk) < _BEGINNING_BYTES and (more := cast(bytes, self._stream.read(_BEGINNING_BYTES))):
            chunk += more
        mark = next((mark for mark in _BYTE_ORDER_MARKS if chunk.startswith(mark)), b"")
        encoding = _BYTE_ORDER_MARKS.get(mark, self._encoding)
        # A program that writes a mark before a text that has one makes two; a second would be part of the first column.
        while mark and chunk.startswith(mark):
            chunk = chunk[len(mark) :]
        if not mark and encoding.lower() in _UTF8:
            encoding = _declared_encoding(chunk)
        if encoding.lower() not in _UTF8:
            try:
                "".encode(encoding)  # Python also has codecs that make no text, and some that replace nothing
                self._decoder = codecs.getincrementaldecoder(encoding)("itemindex-mark")
                self._decoder.decode(b"")
            except (LookupError, ValueError):
                raise LoadRefused(
                    f"{self._name}: its encoding {encoding!r} is not known: write the one that it has into `encoding` "
                    "of the mapping"
                ) from None
        return chunk


def _declared_encoding(beginning: bytes) -> str:
    """Return the encoding that XML declares, as Python names it; UTF-8 where it declares none."""
    of_two_bytes = _XML_OF_TWO_BYTES.get(beginning[:4])
    if of_two_bytes:
        return of_two_bytes
    found = _XML_DECLARATION.match(beginning)
    declared = found[1].decode().lower() if found else "utf-8"
    # A declaration that can be read as ASCII was converted from UTF-16 together with the text, which is UTF-8 since.
    return "utf-8" if declared.startswith(("utf-16", "utf-32", "ucs-", "iso-10646")) else declared
