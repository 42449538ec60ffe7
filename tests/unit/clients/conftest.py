"""What the tests of the clients share."""

from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ITEMINDEX_URL", "ITEMINDEX_KEY", "ITEMINDEX_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that a client made, which it only notes; other threads of the process sleep as before."""
    pauses: list[float] = []
    for module in ("client", "downloads"):
        monkeypatch.setattr(f"itemindex_client.{module}.time", SimpleNamespace(sleep=pauses.append))
    return pauses
