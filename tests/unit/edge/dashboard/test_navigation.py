"""The map of the pages: which pages are suggested while somebody types."""

import pytest

from edge.dashboard.navigation import Navigation


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("webh", ["Webhooks"]),
        ("AUDIT lo", ["Audit log"]),
        ("team key", ["Team", "API key", "Public token"]),
        ("mail", ["Mails"]),
        ("plan", ["Plan", "Usage", "Requests"]),
        ("operator", []),
        ("soy milk", []),
        ("", []),
        ("—", []),
    ],
)
def test_pages_are_suggested_by_the_beginnings_of_their_names_and_of_their_parts(typed: str, names: list[str]) -> None:
    assert [tab.name for _, tab in Navigation.of(None, "").pages_called(typed)] == names
