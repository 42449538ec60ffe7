"""`itemindex config`, `openapi` and `completion`: settings, the API and the commands as other programs read them."""

import json
from dataclasses import fields
from typing import Any

import click
import yaml
from aiohttp import web
from click.shell_completion import get_completion_class

from deploy.ctl.console import json_option, show
from shared.errors import ItemIndexError
from shared.settings.settings import Settings


@click.command("config", epilog="Example: itemindex config --json")
@json_option
def config(as_json: bool) -> None:
    """List every setting: environment variable, description, default. Values are not shown."""
    show(declared(), as_json=as_json, title="settings")


def declared() -> list[dict[str, Any]]:
    """Return the settings in the order of the code."""
    return [
        {
            "variable": item.name.upper(),
            "sentence": item.metadata["sentence"],
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


_PLACEHOLDERS: dict[str, Any] = {
    "edge_database_url": "postgresql://nowhere/none",
    "state_url": "redis://127.0.0.1:1",
    "cache_url": "redis://127.0.0.1:1",
    "token_pepper": "only for the document, nothing is signed",
    "signing_secret": "only for the document, nothing is signed",
    "access_log": "",
}


def application() -> web.Application:
    """Return an edge that can say how it is called, and nothing else: it has no database."""
    from edge.app import create_app  # only here: an edge takes longer to load than the settings to list
    from edge.composition import Resources

    return create_app(Resources(Settings(**_PLACEHOLDERS, problem_base_url=f"{Settings().base_url}/errors")))


@click.command(epilog="Example: itemindex openapi --yaml > openapi.yaml")
@click.option("--yaml", "as_yaml", is_flag=True, help="YAML instead of JSON.")
def openapi(as_yaml: bool) -> None:
    """Print the OpenAPI 3.1 document."""
    from edge.app import describe

    document = describe(application())
    if as_yaml:
        click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120), nl=False)
    else:
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
