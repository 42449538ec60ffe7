"""Array literals: PostgreSQL reads back what was written."""

import pytest

from shared.db.connect import connect
from shared.db.copy_binary import text_array
from shared.settings.settings import Settings


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([], id="empty"),
        pytest.param(["one", "two"], id="plain"),
        pytest.param(["", " ", "NULL", "null"], id="texts that mean something without quotes"),
        pytest.param(['"', "\\", '\\"', "a\\", "{}", "{,}", "a,b"], id="the syntax's own signs"),
        pytest.param(["\t", "\r\n", "\x7f", "\u2028", "羽", "a\u0301"], id="white space and other scripts"),
    ],
)
def test_postgresql_reads_the_same_texts(settings: Settings, texts: list[str]) -> None:
    with connect(settings.database_url, application="tests") as connection:
        row = connection.execute("SELECT $1::text::text[]", (text_array(texts),)).fetchone()
    assert row == (texts,)
