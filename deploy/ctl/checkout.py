"""Commands that need a checkout of the repository: benchmarks, drills and evaluations are kept out of the package."""

import importlib
import sys
from pathlib import Path
from typing import Any

import click

from shared.errors import ConfigurationError
from shared.processes import imports_for_good

_ROOT = Path(__file__).parents[2]


def load_command(target: str) -> click.Command:
    """Import `module:command`. Raises ConfigurationError if it belongs to the tests and they are not installed."""
    module, _, attribute = target.partition(":")
    if module.startswith("tests."):
        if not (_ROOT / "tests").is_dir():
            raise ConfigurationError(
                "this command needs a checkout of the repository: the installed package has no tests"
            )
        if sys.path[0] != str(_ROOT):
            sys.path.insert(0, str(_ROOT))  # first, because another package may have installed a `tests` of its own
    if module not in sys.modules:
        with imports_for_good():
            importlib.import_module(module)
    command: click.Command = getattr(sys.modules[module], attribute)
    return command


class CheckoutGroup(click.Group):
    """A group some of whose commands are imported from the checkout when they are called."""

    def __init__(self, *args: Any, from_checkout: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._from_checkout = from_checkout

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the installed commands, then those of the checkout."""
        return [*super().list_commands(ctx), *self._from_checkout]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now if it belongs to the checkout."""
        if cmd_name in self._from_checkout:
            return load_command(self._from_checkout[cmd_name][0])
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing anything."""
        installed = [(name, command.get_short_help_str(90)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*installed, *((name, text) for name, (_, text) in self._from_checkout.items())])
