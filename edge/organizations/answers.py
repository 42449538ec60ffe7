"""The answers of /org, as JSON that no cache keeps."""

from datetime import datetime
from typing import Any

from aiohttp import web

from edge.http.envelope import envelope
from edge.http.outcome import Outcome, response_of
from edge.http.outcome import outcome_of as outcome_of_plain
from shared.clock import rfc3339


def list_of(
    rows: list[dict[str, Any]],
    query: dict[str, Any],
    data_version: int,
    *,
    total: int | None = None,
    next_cursor: str | None = None,
) -> web.Response:
    """Answer in the one envelope of lists; without `total` these rows are all that there are."""
    count = len(rows) if total is None else total
    response = envelope(
        _plain(rows), total=count, exact=True, next_cursor=next_cursor, query=query, data_version=data_version
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def json_of(document: dict[str, Any], status: int = 200) -> web.Response:
    return response_of(outcome_of(document, status))


def outcome_of(document: dict[str, Any], status: int) -> Outcome:
    return outcome_of_plain(_plain(document), status)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return rfc3339(value) if isinstance(value, datetime) else value
