"""XML that is not well-formed, mended as it is read: what can be meant in one way alone. Flat memory.

A bare `&` is text, a name of HTML such as `&nbsp;` is its character, and a control character, which XML cannot have,
is left out. Comments, CDATA and instructions are not touched.
"""

import re
from collections import Counter
from html.entities import html5

from shared.printable import many
from workers.ingest.files.text_stream import ByteStream

_LITERAL = re.compile(rb"<!--|<!\[CDATA\[|<\?")
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
# It begins with a character, which is searched for many times faster than one of several.
_FAULTY = re.compile(
    rb"&(?:(#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01])|x0*(?:[0-8bcBC]|[eEfF]|1[0-9a-fA-F]));)"
    rb"|(?!#[0-9]{1,7};|#x[0-9A-Fa-f]{1,6};|(?:amp|lt|gt|quot|apos);)(?:([A-Za-z][A-Za-z0-9]{1,31});)?)"
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
# What is held back of a piece: no reference and no beginning of a comment is longer.
_HELD = 64
_READ_BYTES = 1 << 20


class MendedXml:
    """A stream of mended XML; `mended` counts what was."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._buffer = b""
        self._until = b""
        self._ended = False
        self.mended: Counter[str] = Counter()

    def read(self, size: int) -> bytes:
        """Return some bytes; none at the end."""
        made = b""
        while not made and not (self._ended and not self._buffer):
            chunk = b"" if self._ended else self._stream.read(size)
            self._ended = not chunk
            self._buffer += chunk
            made = self._next()
        return made

    def _next(self) -> bytes:
        made = []
        while self._buffer:
            if self._until:
                at = self._buffer.find(self._until)
                if at < 0:
                    kept = 0 if self._ended else len(self._until) - 1
                    made.append(self._take(max(0, len(self._buffer) - kept)))
                    break
                made.append(self._take(at + len(self._until)))
                self._until = b""
            elif found := _LITERAL.search(self._buffer):
                made.append(self._mend_part(self._take(found.start())))
                made.append(self._take(len(found[0])))
                self._until = _ENDS[found[0]]
            else:
                made.append(self._mend_part(self._take(self._whole())))
                break
        return b"".join(made)

    def _take(self, size: int) -> bytes:
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _whole(self) -> int:
        """Return how much of the buffer has no reference or mark that may continue behind it."""
        if self._ended:
            return len(self._buffer)
        begun = max(self._buffer.rfind(mark, -_HELD) for mark in (b"&", b"<"))
        return begun if begun >= 0 else len(self._buffer)

    def _mend_part(self, text: bytes) -> bytes:
        kept = text.translate(None, _CONTROLS)
        if len(kept) < len(text):
            self.mended["control character"] += len(text) - len(kept)
        return _FAULTY.sub(self._mend, kept) if b"&" in kept else kept

    def _mend(self, found: re.Match[bytes]) -> bytes:
        if found[1]:
            self.mended["control character"] += 1
            return b""
        name = (found[2] or b"").decode()
        if f"{name};" in html5:
            self.mended[f'"&{name};"'] += 1
            return "".join(f"&#{ord(character)};" for character in html5[f"{name};"]).encode()
        self.mended['bare "&"'] += 1
        return b"&amp;" + found[0][1:]


def mended_in(stream: ByteStream) -> str:
    """Return a count of each fault that was mended in the document; empty if there was none."""
    mended = MendedXml(stream)
    while mended.read(_READ_BYTES):
        pass
    counts = mended.mended.most_common(3)
    shown = [many(count, what) if what.startswith("control") else f"{count:,} {what}" for what, count in counts]
    further = mended.mended.total() - sum(count for _, count in counts)
    return ", ".join([*shown, *([f"{further:,} others"] if further else [])])
