"""A browser of tests: cookies, and pages requested with them."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp

from shared.settings.settings import Settings
from tests.support.client import Edge, running_edge
from tests.support.issuer import Issuer, running_issuer


@dataclass
class Browser:
    """Cookies, and pages asked for with them."""

    edge: Edge
    issuer: Issuer
    cookies: dict[str, str] = field(default_factory=dict)
    last: Any = None
    address: str = "192.0.2.9"

    async def ask(
        self, method: str, path: str, form: dict[str, str] | str | None = None, head: dict[str, str] | None = None
    ) -> int:
        """Ask for a page and keep the answer; return its status."""
        fields = {"X-Real-IP": self.address, "X-Charge-Id": "c" * 32, **(head or {})}
        if self.cookies:
            fields["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        url = aiohttp.client.URL(f"http://testserver{path}", encoded=True)
        async with self.edge.session.request(method, url, headers=fields, data=form, allow_redirects=False) as answer:
            self.last = answer
            self.text = await answer.text()
        for name, morsel in answer.cookies.items():
            self.cookies[name] = morsel.value
            if not morsel.value:
                del self.cookies[name]
        return answer.status

    async def begin(self, query: str = "") -> dict[str, str]:
        """Begin to sign in; return what the provider is asked."""
        assert await self.ask("GET", f"/dashboard/sign-in{query}") == 303
        return {name: values[0] for name, values in parse_qs(urlsplit(self.last.headers["Location"]).query).items()}

    async def come_back(self, **query: str) -> int:
        """Come back from the provider."""
        return await self.ask("GET", f"/dashboard/sign-in/callback?{urlencode(query)}")

    async def sign_in(self, who: str = "ada", query: str = "") -> int:
        """Sign in."""
        asked = await self.begin(query)
        return await self.come_back(state=asked["state"], code=self.issuer.code(who, nonce=asked["nonce"]))

    def csrf(self) -> str:
        """The token in the forms of the last page."""
        return self.form()["csrf"]

    def form(self, **fields: str) -> dict[str, str]:
        """The hidden fields of the last page's forms, each as the first of them has it, and these."""
        hidden = re.findall(r'<input type="hidden" name="(csrf|once|pairs)" value="([^"]+)"', self.text)
        return {**dict(reversed(hidden)), **fields}

    async def send(self, page: str, path: str = "", **fields: str) -> int:
        """Open a page and send a form of it, to its own address unless another is given; return the status."""
        assert await self.ask("GET", page) == 200
        return await self.ask("POST", path or page, self.form(**fields))

    async def create_organization(self, name: str = "Acme", plan: str = "brand") -> None:
        """Create an organization and work in it."""
        path = "/dashboard/organizations"
        assert await self.send(f"{path}/new", path, name=name, plan=plan) == 303


@asynccontextmanager
async def running_browser(settings: Settings, folder: Path, **changes: Any) -> AsyncIterator[Browser]:
    """Run an edge whose provider is on loopback, with changed settings; give a browser in front of it."""
    async with running_issuer() as issuer:
        async with running_edge(replace(settings, oidc_issuer=issuer.url, **changes), folder) as edge:
            yield Browser(edge, issuer)
