"""Documents at well-known addresses: the API catalogue, security.txt, llms.txt, robots.txt, the icon."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from edge.docs.guides import MARKDOWN, Guide, Guides
from edge.http.problems import Problem
from edge.http.representation import Representation
from edge.http.routing import API_PATH
from shared.settings.settings import Settings

_TEXT = "text/plain; charset=utf-8"
# RFC 9727, section 4: the linkset of an API catalogue says by this profile what it is.
_CATALOGUE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
# RFC 9116, section 2.5.5: less than a year ahead, so that a forgotten file is known to be stale.
_EXPIRES_DAYS = 180
_PUBLIC_PAGES = ("/items", "/brands", "/categories")
_ROBOTS = (
    "User-agent: *",
    f"Allow: {API_PATH}/docs",
    f"Allow: {API_PATH}/errors",
    f"Allow: {API_PATH}/clients",
    "Disallow: /dashboard",
    "Disallow: /search",
    f"Disallow: {API_PATH}/",
)
_ICON = Path(__file__).parent / "static" / "favicon.ico"


class WellKnown:
    def __init__(self, settings: Settings, guides: Guides) -> None:
        self._base = settings.base_url
        self._origin = settings.base_url.removesuffix(API_PATH)
        self._contact = settings.security_contact
        self._guides = guides
        self._catalogue = Representation.of(msgspec.json.encode(_linkset(self._base, self._origin)), _CATALOGUE)
        rule = "Allow" if settings.public_pages_indexed else "Disallow"
        self._robots = Representation.of(
            "\n".join((*_ROBOTS, *(f"{rule}: {path}" for path in _PUBLIC_PAGES), "")), _TEXT
        )
        self._llms: Representation | None = None
        self._icon = Representation.of(_ICON.read_bytes(), "image/vnd.microsoft.icon")

    async def api_catalog(self, request: web.Request) -> web.StreamResponse:
        """Answer with the API catalogue (RFC 9727): where the API's description, documentation and status are."""
        link = f'<{self._origin}/.well-known/api-catalog>; rel="api-catalog"'
        return self._catalogue.respond(request, {"Link": link})

    async def security_txt(self, request: web.Request) -> web.StreamResponse:
        """Answer with security.txt (RFC 9116), or 404 where the operator has named no contact."""
        if not self._contact:
            raise Problem("not-found", "The operator of this service has not stated a contact (SECURITY_CONTACT).")
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        fields = {
            "Contact": self._contact,
            "Expires": f"{today + timedelta(days=_EXPIRES_DAYS):%Y-%m-%dT%H:%M:%SZ}",
            "Preferred-Languages": "en",
            "Canonical": f"{self._origin}/.well-known/security.txt",
            "Policy": f"{self._base}/docs#security",
        }
        return Representation.of(_lines(fields), _TEXT).respond(request)

    async def robots(self, request: web.Request) -> web.StreamResponse:
        """Answer with robots.txt: documentation may be indexed; calls that are counted, and the dashboard, may not.

        Public pages of the index may be where the operator allows it.
        """
        return self._robots.respond(request)

    async def llms(self, request: web.Request) -> web.StreamResponse:
        """Answer with llms.txt: what this service is, and where its documentation is as Markdown."""
        if self._llms is None:
            self._llms = Representation.of(_llms_text(self._base, await self._guides.by_readers()), MARKDOWN)
        return self._llms.respond(request)

    async def favicon(self, request: web.Request) -> web.StreamResponse:
        """Answer with the icon, for browsers that ask for it unasked."""
        return self._icon.respond(request)


def _linkset(base: str, origin: str) -> Mapping[str, Any]:
    return {
        "linkset": [
            {
                "anchor": base,
                "service-desc": [
                    {"href": f"{base}/openapi.json", "type": "application/openapi+json"},
                    {"href": f"{base}/openapi.yaml", "type": "application/openapi+yaml"},
                ],
                "service-doc": [
                    {"href": f"{base}/docs", "type": "text/html"},
                    {"href": f"{base}/docs", "type": "text/markdown"},
                    {"href": f"{base}/docs/reference", "type": "text/html"},
                ],
                "service-meta": [{"href": f"{origin}/llms.txt", "type": "text/markdown"}],
                "status": [{"href": f"{base}/ready", "type": "application/json"}],
            }
        ]
    }


def _llms_text(base: str, guides: Mapping[str, Iterable[Guide]]) -> str:
    listed = "\n\n".join(
        f"## Guides for {readers}\n\n"
        + "\n".join(f"- [{guide.title}]({base}/docs/guides/{guide.name}.md): {guide.summary}" for guide in of_readers)
        for readers, of_readers in guides.items()
    )
    return f"""# Item Index

> What a thing is, what it sells for, what it costs the planet: a public API over an index of items. Looking up an
> item by IID, barcode or words is free with a public token; organizations on paid plans get analytics and
> bulk data.

Every refusal is a problem document (RFC 9457) whose `type` is the address of its explanation. `RateLimit` states
what remains of a limit, `Retry-After` when to try again. `dry_run=true` returns the price of a paid call without
charging.

## Documentation

- [First calls, limits, prices]({base}/docs): send `Accept: text/markdown`
- [OpenAPI 3.1]({base}/openapi.json)
- [Clients for Python and TypeScript]({base}/clients/): send `Accept: text/markdown`
- [Every problem and its remedy]({base}/errors): send `Accept: text/markdown`

{listed}
"""


def _lines(fields: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\n" for name, value in fields.items())
