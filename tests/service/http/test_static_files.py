"""GET /static/…: the files of the pages, and nothing else."""

import gzip
import json

from edge.docs.static_files import FOLDER
from edge.http.compression import COMPRESSED_FROM_BYTES
from tests.support.client import Edge
from tests.support.wire import exchange, head

FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".gz")


async def _ask(edge: Edge, target: str, extra: str = "") -> tuple[int, dict[str, str], bytes]:
    """Return the status, the header fields and the body."""
    [answer] = await exchange(edge, head(edge, 1, target, address="192.0.2.1", extra=extra))
    start, *lines = answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    return int(start.split(" ")[1]), fields, answer.partition(b"\r\n\r\n")[2]


async def test_each_file_of_the_pages_is_sent_as_it_is_whole_and_compressed(shared_edge: Edge) -> None:
    assert len(FILES) > 10
    for path in FILES:
        target = f"/static/{path.relative_to(FOLDER)}"
        status, fields, body = await _ask(shared_edge, target)
        assert (status, body, fields["Cache-Control"]) == (200, path.read_bytes(), "public, max-age=300"), target
        status, fields, packed = await _ask(shared_edge, target, "Accept-Encoding: gzip\r\n")
        coded = fields.get("Content-Encoding") == "gzip"
        assert coded == (len(body) >= COMPRESSED_FROM_BYTES)
        assert (gzip.decompress(packed) if coded else packed) == body, target
        assert (await _ask(shared_edge, target, f"If-None-Match: {fields['ETag']}\r\n"))[0] == 304


async def test_only_the_files_of_the_pages_are_sent(shared_edge: Edge) -> None:
    for target in (
        "/static/",
        "/static/none.css",
        "/static/vendor",
        "/static/vendor/scalar.js.gz",
        "/static/../docs.py",
        "/static/%2e%2e/docs.py",
        "/static/..%2fdocs.py",
        "/static/vendor/..%2f..%2fdocs.py",
        "/static/%2fetc%2fpasswd",
    ):
        status, _, body = await _ask(shared_edge, target)
        assert (status, json.loads(body)["type"].rpartition("/")[2]) == (404, "not-found"), target
