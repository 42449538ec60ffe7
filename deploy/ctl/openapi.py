"""`itemindex openapi`: the contract in machine-readable form, without a running service."""

import json
from typing import Any

import click
import yaml
from aiohttp import web

from edge.app import create_app, describe
from edge.composition import Resources
from shared.settings.settings import Settings

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
    return create_app(Resources(Settings(**_PLACEHOLDERS, problem_base_url=f"{Settings().base_url}/errors")))


@click.command(epilog="Example: itemindex openapi --yaml > openapi.yaml")
@click.option("--yaml", "as_yaml", is_flag=True, help="YAML instead of JSON.")
def openapi(as_yaml: bool) -> None:
    """Print the OpenAPI 3.1 document."""
    document = describe(application())
    if as_yaml:
        click.echo(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120), nl=False)
    else:
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
