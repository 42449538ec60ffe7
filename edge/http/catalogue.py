"""The public catalogue of problem types, as catalogue.toml declares it."""

import tomllib
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

_NEWER_PHRASES = {
    413: "Content Too Large",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
    414: "URI Too Long",
}


def reason_phrase(status: int) -> str:
    """Return the status code's reason phrase as RFC 9110 has it."""
    return _NEWER_PHRASES.get(status) or HTTPStatus(status).phrase


class ProblemType(NamedTuple):
    """One entry of the public catalogue behind `{problem_base_url}`."""

    slug: str
    status: int
    meaning: str
    remedy: str
    # Of a problem that no test records: a request that may cause it, and members of its answer.
    request: str | None = None
    example: Mapping[str, object] = {}

    @property
    def title(self) -> str:
        """The reason phrase of the status."""
        return reason_phrase(self.status)


def _load() -> dict[str, ProblemType]:
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {slug: ProblemType(slug, **entry) for slug, entry in tomllib.loads(text).items()}


CATALOGUE: dict[str, ProblemType] = _load()
