"""The way between two parts, when the drill makes it fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.drills.fault_proxy import Link


@asynccontextmanager
async def linked(folder: Path) -> AsyncIterator[Link]:
    """A link to a server that gives back what it gets."""

    served: list[asyncio.StreamWriter] = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(writer)
        while chunk := await reader.read(100):
            writer.write(chunk)
        writer.close()
        served.remove(writer)

    link = Link(str(folder / "near"), str(folder / "far"))
    async with await asyncio.start_unix_server(echo, link.target), await link.open():
        yield link
        while link.lines or served:
            await asyncio.sleep(0.01)


async def test_a_stalled_link_holds_what_is_sent_until_it_passes(tmp_path: Path) -> None:
    async with linked(tmp_path) as link:
        reader, writer = await asyncio.open_unix_connection(link.listen)
        link.turn("stall")
        writer.write(b"held")
        answer = asyncio.create_task(reader.readexactly(4))
        await asyncio.sleep(0.05)
        assert not answer.done()
        link.turn("pass")
        assert await answer == b"held"
        writer.close()


async def test_a_cut_link_ends_its_connections_and_takes_none(tmp_path: Path) -> None:
    async with linked(tmp_path) as link:
        reader, writer = await asyncio.open_unix_connection(link.listen)
        writer.write(b"one")
        assert await reader.readexactly(3) == b"one"
        link.turn("cut")
        assert await reader.read() == b""
        late, closing = await asyncio.open_unix_connection(link.listen)
        assert await late.read() == b""
        link.turn("pass")
        again, going = await asyncio.open_unix_connection(link.listen)
        going.write(b"two")
        assert await again.readexactly(3) == b"two"
        for end in (writer, closing, going):
            end.close()
