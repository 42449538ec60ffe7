"""`itemindex edge`, `worker` and `dispatcher`: one part of the service in this process, each scaled apart."""

import os

import click

from deploy.ctl.console import data_dir_option, metrics_environment, settings
from deploy.local.part_commands import DISPATCHER_COMMAND, edge_command, worker_command
from deploy.local.paths import PROJECT
from deploy.local.service_process import environment_of_parts
from edge.startup import NEEDED
from shared.db.connect import refuse_empty
from shared.jobs.contract import QUEUES
from shared.objects.shared_directories import require_shared
from workers.jobs.startup import NEEDED as WORKER_NEEDS


def _queues(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    names = [name.strip() for name in value.split(",")]
    unknown = [name for name in names if name not in QUEUES]
    if unknown:
        raise click.BadParameter(f"there is no queue {', '.join(unknown)}; there are {', '.join(QUEUES)}")
    return ",".join(dict.fromkeys(names))


@click.command(epilog="Example: itemindex edge --bind unix:/run/itemindex/edge-a.sock --processes 2")
@click.option("--bind", default="127.0.0.1:8000", envvar="EDGE_BIND", help="Address, or unix:PATH.")
@click.option(
    "--processes",
    default=1,
    envvar="EDGE_WORKERS",
    type=click.IntRange(1, 256),
    help="Processes that share the address.",
)
@data_dir_option
def edge(bind: str, processes: int) -> None:
    """Run an edge until it is stopped; on SIGTERM it finishes its open requests. New code needs a restart.

    Run two behind each nginx: while one restarts or is down, the other one answers. An edge trusts nginx's headers
    about callers only over a unix socket.
    """
    _become(edge_command(), NEEDED, {"EDGE_BIND": bind, "EDGE_WORKERS": str(processes)})


@click.command(epilog="Example: itemindex worker --queues reports --concurrency 4")
@click.option("--queues", default=",".join(QUEUES), callback=_queues, help="Queues to consume.")
@click.option("--concurrency", default=2, type=click.IntRange(1, 256), help="Concurrent jobs.")
@data_dir_option
def worker(queues: str, concurrency: int) -> None:
    """Run a worker until it is stopped; on SIGTERM it finishes its current job.

    It takes its settings from the environment, or from the stack that runs on the data directory. Run separate workers
    for each queue, so that a burst in one never starves another.
    """
    _become(worker_command(queues, concurrency), WORKER_NEEDS)


@click.command(epilog="Example: itemindex dispatcher")
@data_dir_option
def dispatcher() -> None:
    """Run a dispatcher until it is stopped. One is enough; two survive the loss of a host."""
    _become(DISPATCHER_COMMAND, WORKER_NEEDS)


def _become(command: list[str], needed: tuple[str, ...], more: dict[str, str] | None = None) -> None:
    chosen = settings()
    chosen.require(*needed)
    refuse_empty(getattr(chosen, needed[0]))
    require_shared(chosen, getattr(chosen, needed[0]))
    environment = {**environment_of_parts(), **chosen.environment(), **(more or {}), **metrics_environment(chosen)}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH", ""))))
    os.execve(command[0], command, environment)
