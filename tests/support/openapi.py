"""`python -m tests.support.openapi`: the OpenAPI document, from the code."""

import json
from typing import Any

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


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return describe(application())


if __name__ == "__main__":
    print(json.dumps(document(), indent=1, ensure_ascii=False))
