"""Pages of the releases: datasets with size and schema, their files, and how each tool reads them."""

import hmac
import tomllib
from pathlib import Path

from aiohttp import web

from edge.bulk.delta_sharing import profile_of
from edge.bulk.release_repository import LATEST, dataset_of
from edge.dashboard.page_requests import PageError, form_of
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.routing import API_PATH
from shared.bulk.schema import RELEASED
from shared.organizations.accounts import INSTITUTIONAL

_LISTED = 50
_KEY_CHARACTERS_MAX = 200
_CONNECTIONS = Path(__file__).with_name("connections.toml").read_text(encoding="utf-8")


def connections(base_url: str) -> list[dict[str, str]]:
    """Return each tool's title, sentence and lines, with the addresses of this service in them."""
    text = _CONNECTIONS.replace("@BASE@", base_url).replace("@ORIGIN@", base_url.removesuffix(API_PATH))
    return [{**tool, "code": tool["code"].strip()} for tool in tomllib.loads(text).values()]


class DatasetPages(Pages):
    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """All datasets, each with its newest release; and the profile file."""
        return render(
            request,
            "datasets.html",
            visitor,
            datasets=RELEASED,
            newest=await self._services.releases.newest(),
            allowed=await self._includes(visitor, INSTITUTIONAL),
        )

    async def connect(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The lines with which each tool reads the releases."""
        return render(
            request,
            "connect.html",
            visitor,
            tools=connections(self._base_url),
            base_url=self._base_url,
            origin=self._base_url.removesuffix(API_PATH),
            allowed=await self._includes(visitor, INSTITUTIONAL),
        )

    async def show_one(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """One dataset: its columns, its releases, and the files of one of them."""
        dataset = dataset_of(request.match_info["name"])
        releases, _ = await self._services.releases.list_releases(dataset, _LISTED, None)
        chosen = request.query.get("release", LATEST)
        release = await self._services.releases.release(dataset.name, chosen) if releases else None
        files = await self._services.releases.files(dataset.name, release.data_version) if release else []
        return render(
            request,
            "dataset.html",
            visitor,
            dataset=dataset,
            releases=releases[:_LISTED],
            release=release,
            files=files,
            base_url=self._base_url,
            allowed=await self._includes(visitor, INSTITUTIONAL),
        )

    async def file(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """A file, as the API would send it."""
        principal = await self._principal(visitor, INSTITUTIONAL)
        path = request.match_info
        file = await self._services.releases.file(path["name"], path["release"], path["file"])
        return await self._services.downloads.respond(request, file, principal.organization_id)

    async def profile(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """The profile file around a key that the visitor brings: we keep no key that we could put in."""
        principal = await self._principal(visitor, INSTITUTIONAL)
        key = (await form_of(request)).get("key", "").strip()
        holder = await self._credentials.resolve("api-key", key) if len(key) <= _KEY_CHARACTERS_MAX else None
        if holder is None or not hmac.compare_digest(holder.organization_id or "", principal.organization_id or "-"):
            raise PageError(400, "This is not an active key of your organization. Paste the key that you stored.")
        return profile_of(key, self._base_url)
