"""`itemindex search`: build the index."""

from pathlib import Path

import click
from rich.progress import Progress

from deploy.ctl.console import console, data_dir_option, json_option, settings, show
from shared.errors import ConfigurationError
from shared.objects.open import open_object_store
from workers.search.job import make_index


@click.group()
def search() -> None:
    """Build the search index."""


@search.command()
@data_dir_option
@json_option
def build(data_dir: Path, as_json: bool) -> None:
    """Bring the index to the newest data_version, unless it is. Each load does this by itself."""
    chosen = settings(data_dir)
    with Progress(console=console, disable=as_json, transient=True) as progress:
        task = progress.add_task("Building the search index", total=None)
        made = make_index(
            chosen.database_url,
            chosen.search_dir,
            lambda stage, done, total: progress.update(task, completed=done, total=total),
            open_object_store(chosen) if chosen.search_in_store else None,
        )
    if not made["data_version"]:
        raise ConfigurationError("there is nothing to search yet; load something first: itemindex ingest --help")
    show([{**made, "folder": str(chosen.search_dir)}], as_json=as_json)
