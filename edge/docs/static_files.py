"""Files of the pages: styles, scripts, images."""

from functools import partial
from pathlib import Path

from aiohttp import web

from edge.http.made_once import MadeOnce
from edge.http.problems import Problem
from edge.http.representation import Representation

FOLDER = Path(__file__).with_name("static")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


class StaticFiles:
    """The handler. The names of the files are fixed when the edge starts, so that no path leads anywhere else."""

    def __init__(self) -> None:
        files = [path for path in FOLDER.rglob("*") if path.suffix in _TYPES]
        self._made = {str(path.relative_to(FOLDER)): MadeOnce(partial(_read, path)) for path in files}

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with a file."""
        made = self._made.get("/".join(request.match_info.values()))
        if made is None:
            raise Problem("not-found", "There is no such file.")
        return (await made.get()).respond(request)


def _read(path: Path) -> Representation:
    return Representation.of(path.read_bytes(), _TYPES[path.suffix])
