"""`itemindex releases` and `fetch`: cut, list, expire and download releases of the data."""

import time
from pathlib import Path

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from deploy.ctl.console import console, report, rows_of, settings, stored, table
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

# A person waits: an address where nothing listens must be named soon. Downloads resume by themselves, for longer.
_WAIT_SECONDS = 10.0


class FetchFailed(ItemIndexError):
    """A release or a file of it could not be had; the text says why."""


@click.command(epilog="Example: itemindex fetch observations --url https://api.example/v1 --to data")
@click.argument("dataset")
@click.option("--release", default="latest", show_default=True, help="Release to download: a data_version.")
@click.option("--url", default="http://127.0.0.1:8080/v1", show_default=True, help="Address of the API.")
@click.option("--key", envvar="ITEMINDEX_KEY", required=True, help="API key; safer in the variable ITEMINDEX_KEY.")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Directory of the files; default: the current one.",
)
@click.option("--parallel", default=4, show_default=True, type=click.IntRange(1, 16), help="Concurrent downloads.")
def fetch(dataset: str, release: str, url: str, key: str, folder: Path, parallel: int) -> None:
    """Download a release. Run it again to resume; files that are already complete are skipped.

    The same as `ixc fetch` of the Python client, which does not need the server package.
    """
    try:
        import itemindex_client as client
    except ImportError:
        raise FetchFailed("the client for Python is not installed: pip install ./deploy/clients/python") from None
    if not url.startswith(("http://", "https://")):
        raise FetchFailed("the address must begin with http:// or https://")
    try:
        with client.Client(url, key=key, max_wait=_WAIT_SECONDS) as caller:
            chosen = caller.release(dataset, release)
            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
            with Progress(*columns, console=console) as progress:
                version = chosen.manifest["data_version"]
                task = progress.add_task(safe(f"{dataset} {version}"), total=chosen.manifest["bytes"])
                target = chosen.download(folder, parallel=parallel, progress=lambda n: progress.advance(task, n))
    except client.ItemIndexError as error:
        raise FetchFailed(str(error)) from None
    rows, files = chosen.manifest["rows"], len(chosen.manifest["files"])
    console.say("{rows:,} rows in {files} files: {target}", rows=rows, files=files, target=target)


# `itemindex releases`: cut, list and expire releases of the data.


SQL = load_queries(__file__, "releases.sql")
_LOOK_SECONDS = 0.3


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
        report("ordered: job {job}; follow it with `itemindex jobs list {job}`", as_json=as_json, job=job)
        return
    _follow(chosen, job, as_json)


table(
    releases,
    "list",
    SQL.list,
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
            [shown] = rows_of(connection, JOBS.show, job)
            if shown["state"] in ENDED:
                break
            status.update(safe("{stage}: {rows_done:,} rows".format(**shown)))
            time.sleep(_LOOK_SECONDS)
    if shown["state"] != "succeeded":
        raise ItemIndexError(f"the release ended as {shown['state']}: {(shown['error'] or {}).get('detail', '')}")
    report("data_version {data_version} is cut", as_json=as_json, data_version=shown["result"]["data_version"])
