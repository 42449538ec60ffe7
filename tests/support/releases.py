"""Releases for tests: ordered and cut through the real path."""

from pathlib import Path
from typing import Any

from shared.db.connect import connect
from shared.settings.settings import Settings
from tests.support.shop import load_rows
from tests.support.workers import run
from workers.bulk.releases import order


def cut(settings: Settings, **changed: Any) -> dict[str, int]:
    """Cut the newest data_version, with some of the worker's services `changed`; return what the job came to."""
    with connect(settings.database_url, application="tests", autocommit=True) as connection:
        row = connection.execute("SELECT max(version) FROM data_versions").fetchone()
        assert row is not None
        job = order(connection, row[0])
        state = run(settings, job, **changed)
        reported = connection.execute("SELECT result, error FROM jobs WHERE id = $1", (job,)).fetchone()
    assert reported is not None
    assert state == "succeeded", reported[1]
    result: dict[str, int] = reported[0]
    return result


def released_shop(settings: Settings, folder: Path) -> None:
    """Load the shop's rows and cut their release."""
    load_rows(settings, folder)
    cut(settings)
