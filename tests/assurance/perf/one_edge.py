"""One process of the edge without gunicorn: `python -m tests.assurance.perf.one_edge SOCKET`."""

import asyncio
import sys

import uvloop
from aiohttp import web

from edge.server import create_runner


async def serve(socket: str) -> None:
    """Serve on a unix socket until the process is ended."""
    runner = await create_runner()
    await runner.setup()
    await web.UnixSite(runner, socket).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1]))
