"""The indicators of the code are those of the database."""

from shared.analytics.footprint import INDICATORS
from shared.db.connect import connect
from shared.settings.settings import Settings


def test_code_and_table_name_the_same_indicators(settings: Settings) -> None:
    with connect(settings.database_url, application="tests") as connection:
        rows = connection.execute("SELECT code, unit, title FROM indicators ORDER BY place").fetchall()
    assert rows == list(map(tuple, INDICATORS))
