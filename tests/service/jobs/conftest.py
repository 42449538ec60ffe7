"""What tests of jobs share."""

import pytest

from tests.support.workers import RecordedMessages


@pytest.fixture
def messages() -> RecordedMessages:
    """The messages that dispatchers of the test have sent."""
    return RecordedMessages()
