"""`itemindex ingest watch` and `itemindex ingest feeds`: addresses and directories that are loaded again and again."""

import re
import signal
from pathlib import Path

import click

from deploy.ctl.console import data_dir_option, json_option, report, settings, show
from deploy.ctl.loading import find_mapping
from shared.db.connect import connect
from shared.errors import ItemIndexError
from shared.telemetry.http_server import serve_metrics
from shared.telemetry.log import Log
from workers.ingest import mapping as mappings
from workers.ingest.feeds import SQL, FeedRunner, register

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class _Every(click.ParamType[int]):
    """A time as people write it, in seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read 15m, 1h or 1d."""
        found = re.fullmatch(r"([1-9][0-9]{0,6})([smhd])", str(value))
        if found is None:
            self.fail("give a number and s, m, h or d, like 15m, 1h or 1d", param, ctx)
        return int(found[1]) * _UNITS[found[2]]


@click.command(
    epilog="Example: itemindex ingest watch --url https://shop.example/prices.csv --mapping mine.toml --every 1h"
)
@click.option("--url", help="Address of the file, http or https.")
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory into which files are dropped.",
)
@click.option("--mapping", "mapping_path", required=True, help="A mapping file, or the name of a shipped one.")
@click.option("--every", type=_Every(), default="1h", show_default=True, help="How often it is read: 15m, 1h, 1d.")
@click.option("--name", help="Name of the feed; the mapping's source unless given.")
@click.option("--file-name", help="Name under which a fetched file is loaded, if its address has none: prices.ndjson")
@data_dir_option
@json_option
def watch(
    url: str | None,
    directory: Path | None,
    mapping_path: str,
    every: int,
    name: str | None,
    file_name: str | None,
    data_dir: Path,
    as_json: bool,
) -> None:
    """Register a feed: a file at an address or a directory of files that is loaded regularly.

    The mapping is kept with the feed. A feed that is registered again under its name is replaced.
    `itemindex ingest feeds run` reads the feeds; the embedded stack and the shipped services run it.
    """
    if (url is None) == (directory is None):
        raise click.UsageError("give either --url or --directory")
    mapping, chosen = mappings.read(find_mapping(mapping_path)), settings(data_dir)
    with connect(chosen.database_url, application="feeds", autocommit=True) as connection:
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
    report("feed {feed} is registered; `itemindex ingest feeds` shows what becomes of it", as_json=as_json, feed=kept)


@click.group(invoke_without_command=True)
@data_dir_option
@json_option
@click.pass_context
def feeds(ctx: click.Context, data_dir: Path, as_json: bool) -> None:
    """List the feeds, or pause, resume or remove one.

    \b
    Examples:
      itemindex ingest feeds
      itemindex ingest feeds pause my_shop
    """
    if ctx.invoked_subcommand is not None:
        return
    names = ("feed", "source", "place", "every_seconds", "state", "failures", "read", "loaded", "due", "error")
    with connect(settings(data_dir).database_url, application="feeds") as connection:
        rows = connection.execute(SQL.listed).fetchall()
    show((dict(zip(names, row, strict=True)) for row in rows), as_json=as_json, title="feeds")


@feeds.command(epilog="Example: itemindex ingest feeds pause my_shop")
@click.argument("name")
@data_dir_option
@json_option
def pause(name: str, data_dir: Path, as_json: bool) -> None:
    """Pause a feed until it is resumed."""
    _change(data_dir, name, SQL.pause, True)
    report("feed {feed} is paused", as_json=as_json, feed=name)


@feeds.command(epilog="Example: itemindex ingest feeds resume my_shop")
@click.argument("name")
@data_dir_option
@json_option
def resume(name: str, data_dir: Path, as_json: bool) -> None:
    """Resume a paused feed, or retry a failing one immediately."""
    _change(data_dir, name, SQL.pause, False)
    report("feed {feed} is read again", as_json=as_json, feed=name)


@feeds.command(epilog="Example: itemindex ingest feeds remove my_shop")
@click.argument("name")
@data_dir_option
@json_option
def remove(name: str, data_dir: Path, as_json: bool) -> None:
    """Remove a feed. The data that it has loaded stays."""
    _change(data_dir, name, SQL.remove)
    report("feed {feed} is removed; its loads stay", as_json=as_json, feed=name)


@feeds.command(epilog="Example: itemindex ingest feeds run")
@data_dir_option
def run(data_dir: Path) -> None:
    """Serve the feeds until stopped, as the owner of the schema, who alone may load.

    It answers health checks at METRICS_LISTEN, and ends with an error when its database is gone: the supervisor starts
    it again. One process is enough; a second one waits until the first has ended.
    """
    chosen = settings(data_dir)
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: stopped.append(number))
    serve_metrics(chosen)
    log = Log("feeds", level=chosen.log_level)
    log.info("started", revision=chosen.revision)
    FeedRunner(chosen, log, lambda: bool(stopped)).run()
    log.info("stopped")


def _change(data_dir: Path, name: str, statement: str, *values: object) -> None:
    with connect(settings(data_dir).database_url, application="feeds", autocommit=True) as connection:
        if not connection.execute(statement, (name, *values)).rowcount:
            raise ItemIndexError(f"there is no feed {name}; `itemindex ingest feeds` lists them")
