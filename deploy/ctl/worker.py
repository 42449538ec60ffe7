"""`itemindex worker` and `itemindex relay`: the sync tier, scaled apart from the edges."""

import os
import sys
from pathlib import Path

import click

from deploy.ctl.ui import data_dir_option, settings
from deploy.local.nginx import PROJECT
from deploy.local.worker import worker_command
from shared.jobs.contract import QUEUES


def _queues(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    names = [name.strip() for name in value.split(",")]
    strangers = [name for name in names if name not in QUEUES]
    if strangers:
        raise click.BadParameter(f"there is no queue {', '.join(strangers)}; there are {', '.join(QUEUES)}")
    return ",".join(dict.fromkeys(names))


@click.command(epilog="Example: itemindex worker --queues reports --concurrency 4")
@click.option("--queues", default=",".join(QUEUES), show_default=True, callback=_queues, help="Queues to work on.")
@click.option("--concurrency", default=2, show_default=True, type=click.IntRange(1, 256), help="Jobs at a time.")
@data_dir_option
def worker(queues: str, concurrency: int, data_dir: Path) -> None:
    """Run a worker until it is told to stop; SIGTERM lets it finish what it does.

    It takes its settings from the environment, or from the stack that runs on the data directory. Give each queue
    workers of its own, so that a rush in one never starves another.
    """
    _become(worker_command(queues, concurrency), data_dir)


@click.command(epilog="Example: itemindex relay")
@data_dir_option
def relay(data_dir: Path) -> None:
    """Run a relay until it is told to stop. One is enough; two survive the loss of a host."""
    _become([sys.executable, "-m", "workers.relay"], data_dir)


def _become(command: list[str], data_dir: Path) -> None:
    chosen = settings(data_dir)
    chosen.require("worker_database_url", "state_url", "broker_url")
    environment = {**os.environ, **chosen.environment()}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH", ""))))
    os.execve(command[0], command, environment)
