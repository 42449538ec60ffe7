"""`itemindex config` and `completion`: the settings, and the commands as shells read them."""

from dataclasses import fields

import click
from click.shell_completion import get_completion_class

from deploy.ctl.console import json_option, show
from shared.errors import ItemIndexError
from shared.settings.settings import Settings


@click.command("config", epilog="Example: itemindex config --json")
@json_option
def config() -> None:
    """List every setting: environment variable, description, default. Values are not shown."""
    show(declared_settings(), title="settings")


def declared_settings() -> list[dict[str, object]]:
    """Return the settings in the order of the code."""
    return [
        {
            "variable": item.name.upper(),
            "description": item.metadata["sentence"],
            "default": "" if item.default is None else str(item.default),
            "secret": item.metadata["secret"],
        }
        for item in fields(Settings)
    ]


@click.command(epilog="Example: itemindex completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL. Bash and zsh read it at startup; for fish, write it to
    ~/.config/fish/completions/itemindex.fish."""
    completion = get_completion_class(shell)
    if completion is None:
        raise ItemIndexError(f"this version of click has no completion for {shell}")
    click.echo(completion(ctx.find_root().command, {}, "itemindex", "_ITEMINDEX_COMPLETE").source())
