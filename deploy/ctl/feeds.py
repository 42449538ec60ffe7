"""`itemindex feeds`: addresses and directories that are loaded again and again."""

import re
import signal
from pathlib import Path
from typing import Any

import click

from deploy.ctl.console import (
    count_in_directory,
    data_dir,
    data_dir_option,
    database,
    report,
    settings,
    store_options,
    table,
)
from deploy.local.paths import Paths
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log
from workers.ingest.feeds.registry import FEED_STATES, register, set_feed_state
from workers.ingest.feeds.registry import SQL as FEEDS
from workers.ingest.feeds.runner import FeedRunner
from workers.operators.acts import account_acts, load_acts

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class _Every(click.ParamType[int]):
    """A time as people write it, in seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read 15m, 1h or 1d."""
        found = re.fullmatch(r"([1-9][0-9]{0,6})([smhd])", str(value))
        if found is None:
            self.fail("give a number and s, m, h or d, like 15m, 1h or 1d", param, ctx)
        return int(found[1]) * _SECONDS[found[2]]


@click.group()
def feeds() -> None:
    """Feeds: files at addresses or in directories that are loaded regularly."""


@feeds.command(
    epilog="Example: itemindex feeds add --url https://shop.example/prices.csv --mapping mine.toml --every 1h"
)
@click.option("--url", help="Address of the file, http or https.")
@click.option(
    "--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Directory to read files from."
)
@click.option("--mapping", "mapping_path", required=True, help="A mapping file, or the name of a shipped one.")
@click.option("--every", type=_Every(), default="1h", help="Interval between reads: 15m, 1h, 1d.")
@click.option("--name", help="Name of the feed; default: the mapping's source.")
@click.option("--file-name", help="Name under which a fetched file is loaded, if its address has none: prices.ndjson")
@store_options
def add(
    url: str | None, directory: Path | None, mapping_path: str, every: int, name: str | None, file_name: str | None
) -> None:
    """Register a feed: a file at an address or a directory of files that is loaded regularly.

    The mapping is kept with the feed. A feed that is registered again under its name is replaced.
    `itemindex feeds run` reads the feeds; the embedded stack and the shipped services run it.
    """
    if (url is None) == (directory is None):
        raise click.UsageError("give either --url or --directory")
    # Imported here: `itemindex feeds run` waits without numpy and pyarrow.
    from deploy.ctl.run_load import find_mapping
    from workers.ingest.mapping import read

    mapping, chosen = read(find_mapping(mapping_path)), settings()
    with database("feeds", autocommit=True) as connection:
        kept = register(
            chosen,
            connection,
            mapping,
            every_seconds=every,
            name=name,
            url=url,
            directory=directory,
            file_name=file_name,
        )
    report("feed {feed} is registered; `itemindex feeds list` shows what becomes of it", feed=kept)


table(
    feeds,
    "list",
    FEEDS.listed,
    title="feeds",
    text="List the feeds with their last read, last load and error.",
    example="itemindex feeds list",
)


@feeds.command(epilog="Example: itemindex feeds state my_shop paused")
@click.argument("name")
@click.argument("state", type=click.Choice(FEED_STATES))
@store_options
def state(name: str, state: str) -> None:
    """Pause, resume or remove a feed. The data that it has loaded stays.

    `active` retries a failing one immediately.
    """
    with database("feeds", autocommit=True) as connection:
        set_feed_state(connection, name, state)
    report("feed {feed} is {state}", feed=name, state=state)


@feeds.command("run", epilog="Example: itemindex feeds run")
@data_dir_option
def run_feeds() -> None:
    """Serve feeds, uploads and operators' acts of the dashboard until stopped, as the owner of the schema.

    It answers health checks at METRICS_LISTEN, and exits with an error if the database is unavailable, so that the
    supervisor restarts it. One process is enough; a second one waits until the first has exited.
    """
    chosen = settings()
    chosen.require("database_url")
    count_in_directory(chosen)
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: stopped.append(number))
    serve_metrics(chosen)
    log = Log("feeds", level=chosen.log_level)
    log.info("started", revision=chosen.revision)
    folder = data_dir()
    acts = (account_acts(chosen, log, lambda: _host_findings(folder)), load_acts(chosen, log))
    FeedRunner(chosen, log, lambda: bool(stopped), acts).run()
    log.info("stopped")


def _host_findings(folder: Path) -> list[dict[str, Any]]:
    """Return what `itemindex doctor` finds on this host."""
    from deploy.ctl.doctor import examine

    return [finding._asdict() for finding in examine(Paths.at(folder))]
