"""`itemindex fetch`: downloads a release by the client for Python, as `ixc fetch` does without the server."""

from pathlib import Path

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from deploy.ctl.console import console
from deploy.terminal import safe
from shared.errors import ItemIndexError

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

    The same as `ixc fetch` of the client for Python, which needs nothing of the server.
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
