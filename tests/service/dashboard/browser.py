"""A browser of tests: cookies, and pages requested with them."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp

from tests.support.client import Edge
from tests.support.issuer import Issuer


@dataclass
class Browser:
    """Cookies, and pages asked for with them."""

    edge: Edge
    issuer: Issuer
    cookies: dict[str, str] = field(default_factory=dict)
    last: Any = None

    async def ask(
        self, method: str, path: str, form: dict[str, str] | str | None = None, head: dict[str, str] | None = None
    ) -> int:
        """Ask for a page and keep the answer; return its status."""
        fields = {"X-Real-IP": "192.0.2.9", "X-Charge-Id": "c" * 32, **(head or {})}
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
        found = re.search(r'name="csrf" value="([^"]+)"', self.text)
        assert found is not None
        return found[1]

    def once(self) -> str:
        """The id of the last page's first form that makes a secret."""
        found = re.search(r'name="once" value="([^"]+)"', self.text)
        assert found is not None
        return found[1]
