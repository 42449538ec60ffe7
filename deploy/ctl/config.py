"""`itemindex config`: every setting with its sentence and default, as the code declares them."""

from dataclasses import fields
from typing import Any

import click

from deploy.ctl.console import json_option, show
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
