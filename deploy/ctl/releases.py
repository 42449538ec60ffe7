"""`itemindex releases`: cut and list releases of the data."""

import click

from deploy.ctl.console import database, report, store_options, table
from deploy.ctl.jobs import follow
from shared.db.queries import load_queries
from shared.errors import ItemIndexError
from workers.bulk.releases import order_newest

SQL = load_queries(__file__, "releases.sql")


@click.group()
def releases() -> None:
    """Releases of the data as files: cut and list them."""


@releases.command(epilog="Example: itemindex releases cut --wait")
@click.option("--wait", is_flag=True, help="Wait until the release is cut.")
@store_options
def cut(wait: bool) -> None:
    """Order a release of the newest data_version. Existing releases do not change."""
    with database("releases", autocommit=True) as connection:
        job = order_newest(connection)
    if not wait:
        report("ordered: job {job}; follow it with `itemindex jobs list {job}`", job=job)
        return
    ended = follow(job, "release")
    if ended["state"] != "succeeded":
        raise ItemIndexError(f"the release ended as {ended['state']}: {(ended['error'] or {}).get('detail', '')}")
    report("data_version {data_version} is cut", data_version=ended["result"]["data_version"])


table(
    releases,
    "list",
    SQL.list,
    title="releases",
    text="List releases, the newest first.",
    example="itemindex releases list --json",
)
