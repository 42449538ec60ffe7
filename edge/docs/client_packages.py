"""The clients as packages that pip and npm install.

`make clients` writes the packages; no tool that builds them is needed where the service runs.
"""

import hashlib
from functools import partial
from pathlib import Path

import msgspec
from aiohttp import web

from edge.docs.guides import MARKDOWN, DocumentPage, render
from edge.http.html import HTML, PAGES
from edge.http.made_once import MadeOnce
from edge.http.problems import Problem
from edge.http.representation import Representation

PACKAGES = Path(__file__).with_name("packages")
[WHEEL], [TARBALL] = ([path.name for path in PACKAGES.iterdir() if path.suffix == kind] for kind in (".whl", ".tgz"))
_LANGUAGES = {WHEEL: "Python", TARBALL: "TypeScript"}
_PACKAGE_TYPES = {WHEEL: "application/zip", TARBALL: "application/gzip"}


def install_commands(base_url: str) -> dict[str, str]:
    """Return the command that installs each client from this service, by its language."""
    return {
        "Python": f"pip install {base_url}/clients/{WHEEL}",
        "TypeScript": f"npm install {base_url}/clients/{TARBALL}",
    }


class Clients:
    def __init__(self, base_url: str) -> None:
        self._base = f"{base_url}/clients"
        self._commands = install_commands(base_url)
        self._page = MadeOnce(self._make)
        self._files = {name: MadeOnce(partial(_package, name)) for name in _LANGUAGES}

    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with the packages, and how each is installed."""
        return (await self._page.get()).respond(request)

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Answer with a package."""
        made = self._files.get(request.match_info["file"])
        if made is None:
            raise Problem("not-found", f"There is no such file; {self._base}/ lists them.")
        return (await made.get()).respond(request)

    def _make(self) -> DocumentPage:
        entries = [self._entry(name, language) for name, language in _LANGUAGES.items()]
        text = PAGES.text("clients.md", entries=entries, base_url=self._base.removesuffix("/clients"))
        return DocumentPage(
            Representation.of(PAGES.text("clients.html", page=render(text)), HTML),
            Representation.of(text, MARKDOWN),
            Representation.of(msgspec.json.encode({"data": entries, "count": len(entries)}), "application/json"),
        )

    def _entry(self, name: str, language: str) -> dict[str, str | int]:
        content = (PACKAGES / name).read_bytes()
        return {
            "language": language,
            "file": name,
            "version": name.split("-")[1 if language == "Python" else -1].removesuffix(".tgz"),
            "url": f"{self._base}/{name}",
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "install": self._commands[language],
        }


def _package(name: str) -> Representation:
    content = (PACKAGES / name).read_bytes()
    # Packages are compressed already.
    return Representation(content, b"", _PACKAGE_TYPES[name], f'"{hashlib.sha256(content).hexdigest()}"')
