"""The stack's own first release, and an organization that may read it."""

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

import pytest

from tests.system.conftest import Running


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
def buyer(released_stack: Running) -> Buyer:
    """Create an organization that may read the release of the first start."""
    stack = released_stack
    organization = stack.ctl("orgs", "create", "Reader", "--plan", "institutional").strip()
    return Buyer(stack, stack.ctl("keys", "issue", organization).strip(), f"http://127.0.0.1:{stack.port}/v1")
