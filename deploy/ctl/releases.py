"""`itemindex releases`: cut and list releases of the data."""

from pathlib import Path

import click

from deploy.ctl.console import report, settings, stored, table
from deploy.ctl.jobs import follow
from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.bulk.releases import SQL as RELEASES
from workers.bulk.releases import order

SQL = load_queries(__file__, "releases.sql")


@click.group()
def releases() -> None:
    """Releases of the data as files: cut and list them."""


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
        report("ordered: job {job}; follow it with `itemindex jobs list {job}`", as_json=as_json, job=job)
        return
    ended = follow(chosen, job, "release", quiet=as_json)
    if ended["state"] != "succeeded":
        raise ItemIndexError(f"the release ended as {ended['state']}: {(ended['error'] or {}).get('detail', '')}")
    report("data_version {data_version} is cut", as_json=as_json, data_version=ended["result"]["data_version"])


table(
    releases,
    "list",
    SQL.list,
    title="releases",
    text="List releases, the newest first.",
    example="itemindex releases list --json",
)
