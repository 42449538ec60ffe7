"""Former names of commands: they run with a warning for one version."""

from collections.abc import Mapping
from typing import Any

import click


def current_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return a command's name today; warn on standard error if it was called by a former one."""
    current = renamed.get(name)
    if current is None:
        return name
    from deploy.ctl.console import errors  # only now: `--help` need not wait for it

    errors.say("itemindex: `{name}` is deprecated: use `{current}` instead", name=name, current=current)
    return current


class AliasedGroup(click.Group):
    """A group whose renamed commands can still be called by their former names."""

    def __init__(self, *args: Any, renamed: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._renamed = renamed

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name today, or by a former one with a warning."""
        return super().get_command(ctx, current_name(cmd_name, self._renamed))
