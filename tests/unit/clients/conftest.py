"""What the tests of the clients share."""

import pytest


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ITEMINDEX_URL", "ITEMINDEX_KEY", "ITEMINDEX_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that a client made, which it only notes."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses
