"""One row of the catalogue of hostile input: what is sent, what must come back, and what it may cost."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.client import Edge

MARK = "hostile-mark"


@dataclass(frozen=True)
class Row:
    """`promise` is the id in the catalogue. `costs` are units of the anonymous caller; MARK never comes back."""

    promise: str
    path: str
    status: int
    slug: str | None = None
    head: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"
    body: bytes | None = None
    costs: int = 0
    anonymous: bool = True


async def faults(edge: Edge, rows: Sequence[Row]) -> list[str]:
    """Send every row, each from an address of its own, and tell which answers are not as promised."""
    return [fault for number, row in enumerate(rows) async for fault in _faults(edge, row, f"198.51.100.{number + 1}")]


async def _faults(edge: Edge, row: Row, address: str) -> AsyncIterator[str]:
    head = dict(row.head)
    answer = await edge.ask(
        row.method, row.path, address=address, head=head, anonymous=row.anonymous, body=row.body, check=row.status < 500
    )
    about = f"{row.promise} {row.method} {row.path[:60]!r} {str(head)[:80]}"
    if answer.status != row.status:
        yield f"{about}: {answer.status}, not {row.status}"
    if answer.status >= 400 and row.method != "HEAD":
        slug = answer.json["type"].rpartition("/")[2]
        if row.slug is not None and slug != row.slug:
            yield f"{about}: {slug}, not {row.slug}"
    if MARK.encode() in answer.body:
        yield f"{about}: the answer repeats what was sent"
    used = (await edge.get("/quota", address=address)).json["limits"][0]["used"]
    if used != row.costs:
        yield f"{about}: costs {used}, not {row.costs}"


def each(promise: str, paths: Sequence[str], status: int, slug: str | None = None, costs: int = 0) -> Iterator[Row]:
    """Make a row of each path."""
    for path in paths:
        yield Row(promise, path, status, slug, costs=costs)
