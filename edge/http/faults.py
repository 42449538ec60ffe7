"""The catalogue of problems, and the faults of parameters that they name."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from shared.printable import printable

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
    example: Mapping[str, Any] = {}

    @property
    def title(self) -> str:
        """The reason phrase of the status."""
        return reason_phrase(self.status)


def _load() -> dict[str, ProblemType]:
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return {slug: ProblemType(slug, **entry) for slug, entry in tomllib.loads(text).items()}


CATALOGUE: dict[str, ProblemType] = _load()


DETAIL_CHARACTERS_MAX = 300
_VALUE_CHARACTERS_MAX = 40
# Sentences that continue "`limit`: `0` …"; before any other one a verb is missing.
_VERBS = ("is ", "are ", "has ", "does ", "comes ", "cannot ", "ends ", "belongs ", "only ", "of ", "takes ", "says ")
_LISTS = {"brand": "/v1/index/brands", "category": "/v1/index/categories", "channel": "/v1/index/channels"}
_HARMLESS = str.maketrans({"`": "'", "<": "\\u003c", ">": "\\u003e"})
# A key or an ID token in the wrong place must not be repeated: details are printed, and end up in logs of callers.
_CREDENTIAL = re.compile(r"iix[kp]_|eyJ")


class Fault(NamedTuple):
    """A parameter, why it was refused, and the value that came; without a value the sentence is about the name."""

    parameter: str
    detail: str
    value: Any = None

    @property
    def sentence(self) -> str:
        """The fault in words: "`brand`: `nosuch` is not a known brand; see /v1/index/brands"."""
        value, continues = quoted(self.value), self.detail.startswith(_VERBS)
        if value is None:
            return f"`{self.parameter}`{'' if continues else ':'} {self.detail}"
        return f"`{self.parameter}`: `{value}` {self.detail if continues else f'is not valid; {self.detail}'}"

    @property
    def entry(self) -> dict[str, str]:
        """The fault as an entry of `errors`."""
        value = quoted(self.value)
        return {"parameter": self.parameter, "detail": self.detail, **({} if value is None else {"value": value})}


def unknown(parameter: str, name: str, value: Any) -> Fault:
    """Return the fault of a value that the index does not have; `name` is brand, category or channel."""
    return Fault(parameter, f"is not a known {name}; see {_LISTS[name]}", value)


def quoted(value: Any) -> str | None:
    """Return a value for a response: short, in one line, without a backtick. None for a blank one and a credential."""
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    if not text.strip() or _CREDENTIAL.search(text):
        return None
    # A browser that takes the answer for HTML all the same finds no tag in it.
    shown = printable(text[: _VALUE_CHARACTERS_MAX + 1]).translate(_HARMLESS)
    return shown if len(shown) <= _VALUE_CHARACTERS_MAX else f"{shown[: _VALUE_CHARACTERS_MAX - 1]}…"


def detail_of(faults: Iterable[Fault]) -> str:
    """Return as many faults as 300 characters hold, at least the beginning of the first, and the number of others."""
    sentences = [fault.sentence.rstrip(".") for fault in faults]
    for kept in range(len(sentences), 0, -1):
        left = len(sentences) - kept
        more = f" {left} more in `errors`." if left else ""
        text = ". ".join(sentences[:kept])
        if len(text) + 1 + len(more) <= DETAIL_CHARACTERS_MAX:
            return f"{text}{'' if text.endswith('?') else '.'}{more}"
    return f"{sentences[0][: DETAIL_CHARACTERS_MAX - 1 - len(more)]}…{more}"


def value_in(given: Any, name: str, message: Any) -> Any:
    """Return the value to which a validation's message belongs: of a list the entry that the message names."""
    value = given.get(name) if isinstance(given, Mapping) else None
    position = next(iter(message), None) if isinstance(message, Mapping) else None
    if isinstance(value, list) and isinstance(position, int) and position < len(value):
        return value[position]
    return value
