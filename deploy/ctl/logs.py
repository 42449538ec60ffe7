"""`itemindex logs`: what the parts of the embedded stack wrote."""

import subprocess
from collections import deque
from pathlib import Path

import click

from deploy.ctl.console import console, data_dir_option
from deploy.local.paths import Paths
from shared.errors import ItemIndexError


@click.command(epilog="Example: itemindex logs edge-a -f")
@click.argument("name", required=False)
@click.option("-f", "--follow", is_flag=True, help="Continue to show new lines.")
@click.option(
    "-n", "--lines", default=30, show_default=True, type=click.IntRange(0, 100_000), help="Lines to begin with."
)
@data_dir_option
def logs(name: str | None, follow: bool, lines: int, data_dir: Path) -> None:
    """Show the log of one part, or the end of every log."""
    folder = Paths.at(data_dir).root / "log"
    names = sorted(path.stem for path in folder.glob("*.log"))
    if not names:
        raise ItemIndexError("there are no logs here; `itemindex up` writes them below its data directory")
    if name is not None and name not in names:
        raise click.BadParameter(f"there are: {', '.join(names)}", param_hint="NAME")
    chosen = [folder / f"{one}.log" for one in ([name] if name else names)]
    for path in chosen:
        console.say("[bold cyan]{part}[/]", part=path.stem)
        with path.open(errors="replace") as log:
            console.pass_on("".join(deque(log, lines)))
    if follow:
        _follow(chosen)


def _follow(paths: list[Path]) -> None:
    """Print what is added to the files until Ctrl-C."""
    command = ["tail", "-n", "0", "-F", *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as tail:
        assert tail.stdout is not None
        try:
            for line in tail.stdout:
                console.pass_on(line)
        except KeyboardInterrupt:
            pass
        finally:
            tail.terminate()  # also after an error: leaving the block waits for it
