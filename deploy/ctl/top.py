"""`itemindex top`: what the service does, live."""

import time
from collections.abc import Mapping
from pathlib import Path

import click
from rich.live import Live

from deploy.ctl.console import console, data_dir_option
from deploy.ctl.numbers import FiniteRange
from deploy.local.paths import Paths
from deploy.local.supervised import read_state
from deploy.monitor.frame import frame
from deploy.monitor.processes import Effort, efforts
from deploy.monitor.scrape import Between, Scrape
from shared.errors import ItemIndexError


@click.command(epilog="Example: itemindex top --url http://edge-7:9101/metrics")
@click.option("--url", help="Address of the metrics; default: those of the stack on the data directory.")
@click.option("--interval", default=1.0, show_default=True, type=FiniteRange(0.05, 60), help="Seconds between frames.")
@click.option("--once", is_flag=True, help="Print one frame and exit.")
@data_dir_option
def top(url: str | None, interval: float, once: bool, data_dir: Path) -> None:
    """Show requests, refusals, caches, stores, queues and processes as they are now. Ctrl-C ends it."""
    address, parts = (url, {}) if url else _of_the_stack(data_dir)
    before, earlier = Scrape.fetch(address), efforts(parts)
    if once:
        time.sleep(interval)
        console.print(frame(Between(before, Scrape.fetch(address)), earlier, efforts(parts)))
        return
    _live(address, parts, interval, before, earlier)


def _live(address: str, parts: Mapping[str, int], interval: float, before: Scrape, earlier: dict[str, Effort]) -> None:
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                time.sleep(interval)
                after, now = Scrape.fetch(address), efforts(parts)
                live.update(frame(Between(before, after), earlier, now), refresh=True)
                before, earlier = after, now
    except KeyboardInterrupt:
        return


def _of_the_stack(data_dir: Path) -> tuple[str, dict[str, int]]:
    state = read_state(Paths.at(data_dir))
    if state is None:
        raise ItemIndexError("no stack runs here; start one with `itemindex up`, or name another's metrics with --url")
    parts = {child["name"]: child["pid"] for child in state["children"] if child["pid"] is not None}
    return f"http://127.0.0.1:{state['metrics_port']}/metrics", parts
