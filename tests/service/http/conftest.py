"""Tells the tests of HTTP answers which requests the fast path took."""

import pytest

from tests.support.wire import watch_the_fast_path


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each request, whether the fast path took it, which needs the principal in memory."""
    monkeypatch.setattr("edge.auth.credentials._HOLDS_SECONDS", 60.0)  # a busy machine stops an edge for a second
    return watch_the_fast_path(monkeypatch)
