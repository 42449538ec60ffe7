"""`itemindex completion`: what a shell reads to complete commands, options and choices."""

import click
from click.shell_completion import get_completion_class

from shared.errors import ItemIndexError


@click.command(epilog="Example: itemindex completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a SHELL. Bash and zsh read it at their start; for fish write it to
    ~/.config/fish/completions/itemindex.fish."""
    completion = get_completion_class(shell)
    if completion is None:
        raise ItemIndexError(f"this version of click has no completion for {shell}")
    click.echo(completion(ctx.find_root().command, {}, "itemindex", "_ITEMINDEX_COMPLETE").source())
