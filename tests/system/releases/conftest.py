"""The stack's own first release, and an organization that may read it."""

import json
import time
import urllib.request
from dataclasses import dataclass
from typing import Any

import pytest

from tests.system.conftest import Running

_CUT_SECONDS = 120.0


@dataclass(frozen=True)
class Buyer:
    """An organization with a key, on a stack that has cut its first release."""

    stack: Running
    key: str
    api: str

    def get(self, path: str, **fields: str) -> Any:
        """Open a path below the API, or a whole address, with the key."""
        url = path if path.startswith("http") else self.api + path
        return urllib.request.urlopen(
            urllib.request.Request(url, headers={"Authorization": f"ApiKey {self.key}", **fields}), timeout=30
        )

    def manifest(self, dataset: str = "observations") -> Any:
        """Return the newest release's manifest."""
        with self.get(f"/index/datasets/{dataset}/releases/latest") as answer:
            return json.load(answer)


@pytest.fixture(scope="session")
def buyer(stack: Running) -> Buyer:
    """Wait for the release that the first start cuts by itself."""
    ends = time.monotonic() + _CUT_SECONDS
    while not json.loads(stack.ctl("releases", "list", "--json")):
        assert time.monotonic() < ends, stack.ctl("jobs", "list")
        time.sleep(0.5)
    organization = stack.ctl("orgs", "create", "Reader", "--plan", "institutional").strip()
    return Buyer(stack, stack.ctl("keys", "issue", organization).strip(), f"http://127.0.0.1:{stack.port}/v1")
