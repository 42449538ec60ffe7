"""What the hostile input is thrown at: a whole stack, and one good credential of each kind."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from shared.settings.settings import Settings
from tests.support.issuer import Issuer, running_issuer
from tests.system.conftest import Running, start

ENOUGH = str(10**9)
# Limits that no run reaches: with the real ones almost every answer would be 429, and nothing else would be tried.
LIMITS = ("--daily-units", ENOUGH, "--burst-units", ENOUGH)
JOBS = ("--jobs-running", "2", "--jobs-queued", ENOUGH)


@dataclass(frozen=True)
class Target:
    """A running stack and who may call it."""

    stack: Running
    issuer: Issuer

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return f"http://127.0.0.1:{self.stack.port}"

    def environment(self) -> dict[str, str]:
        """Return the credentials, as tests/assurance/hostile/hooks.py reads them.

        The person behind the ID token owns an organization of its own: what is revoked, renamed or removed there does
        not take away the key that the other calls need.
        """
        bearer = self.issuer.token("mallory", exp=self.issuer.claims()["iat"] + 86_000)
        body = json.dumps({"name": "Mallory's", "plan": "brand"}).encode()
        fields = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
        with urlopen(Request(f"{self.base_url}/v1/org", body, fields), timeout=10) as answer:
            assert answer.status == 201
        organization = self.stack.ctl("orgs", "create", "Acme", "--plan", "institutional").strip()
        return {
            "HOSTILE_TOKEN": Settings().anonymous_token,
            "HOSTILE_KEY": self.stack.ctl("keys", "issue", organization).strip(),
            "HOSTILE_BEARER": bearer,
        }


@contextmanager
def target(folder: Path) -> Iterator[Target]:
    """Run a stack whose people sign in with a provider of ours, with limits out of reach."""
    with issuing() as issuer, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OIDC_ISSUER", issuer.url)
        stack = start(folder)
        try:
            for plan in ("anonymous", "free", "brand", "institutional"):
                stack.ctl("plans", "set", plan, *LIMITS, *(JOBS if plan == "institutional" else ()))
            stack.ctl("plans", "set", "brand", "--self-service")
            yield Target(stack, issuer)
        finally:
            stack.ctl("down")


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Run the provider on a loop of its own, because the stack lives in other processes."""
    ready, over = threading.Event(), asyncio.Event()
    found: list[Issuer] = []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with running_issuer() as issuer:
            found.append(issuer)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()
