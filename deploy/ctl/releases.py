"""`itemindex releases`: cut, list and expire releases of the data."""

import time
from pathlib import Path

import click

from deploy.ctl.console import console, report, settings, stored, table
from deploy.terminal import safe
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from shared.jobs.contract import ENDED
from shared.jobs.contract import SQL as JOBS
from shared.objects.open import open_object_store
from shared.settings.settings import Settings
from shared.telemetry.log import Log
from workers.bulk.releases import SQL as RELEASES
from workers.bulk.releases import expire, order

SQL = load_queries(__file__, "releases.sql")
_LOOK_SECONDS = 0.3
_STATE, _STAGE, _DONE, _RESULT, _ERROR = 3, 7, 8, 11, 12


@click.group()
def releases() -> None:
    """Releases of the data as files: publish, list, expire."""


@releases.command(epilog="Example: itemindex releases cut --wait")
@click.option("--wait", is_flag=True, help="Wait until the release is cut.")
@stored
def cut(wait: bool, data_dir: Path, as_json: bool) -> None:
    """Order a release of the newest data_version. Existing releases do not change."""
    chosen = settings(data_dir)
    with connect(chosen.database_url, application="releases", autocommit=True) as connection:
        row = connection.execute(RELEASES.newest).fetchone()
        if row is None:
            raise ItemIndexError("there is no data yet; load some with `itemindex ingest`")
        job = order(connection, row[0])
    if not wait:
        report("ordered: job {job}; follow it with `itemindex jobs show {job}`", as_json=as_json, job=job)
        return
    _follow(chosen, job, as_json)


table(
    releases,
    "list",
    SQL.list,
    "dataset data_version kept_as files rows bytes created_at expires_at",
    title="releases",
    text="List releases, the newest first.",
    example="itemindex releases list --json",
)


@releases.command("expire", epilog="Example: itemindex releases expire")
@stored
def expire_(data_dir: Path, as_json: bool) -> None:
    """Remove expired releases and files that belong to no release, as the dispatcher does."""
    chosen = settings(data_dir)
    with connect(chosen.database_url, application="releases", autocommit=True) as connection:
        deleted = expire(connection, open_object_store(chosen), Log("ctl"), chosen.base_url)
    report("files deleted: {deleted}", as_json=as_json, deleted=deleted)


def _follow(chosen: Settings, job: str, as_json: bool) -> None:
    with (
        connect(chosen.database_url, application="releases", autocommit=True) as connection,
        console.status("waiting for a worker …") as status,
    ):
        while True:
            row = connection.execute(JOBS.show, (job,)).fetchone()
            assert row is not None
            if row[_STATE] in ENDED:
                break
            status.update(safe(f"{row[_STAGE]}: {row[_DONE]:,} rows"))
            time.sleep(_LOOK_SECONDS)
    if row[_STATE] != "succeeded":
        raise ItemIndexError(f"the release ended as {row[_STATE]}: {(row[_ERROR] or {}).get('detail', '')}")
    report("data_version {data_version} is cut", as_json=as_json, data_version=row[_RESULT]["data_version"])
