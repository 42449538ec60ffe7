"""The faults of a filled-in form by field, so that the page shows each sentence beside its field."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError

from edge.dashboard.session_guard import PageError
from edge.http.problems import Problem


class FormFaults(PageError):
    """The faults of a form by the names of its fields; the empty name holds a fault of no single field."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(400, " ".join(f"{name}: {text}" if name else text for name, text in faults.items()))

    @classmethod
    def of(cls, error: ValidationError, renamed: Mapping[str, str]) -> "FormFaults":
        """Return the faults that a schema found; `renamed` gives the form's own name of a parameter."""
        messages: Any = error.messages
        return cls({renamed.get(name, name): _first(text) for name, text in messages.items()})

    @classmethod
    def of_failure(cls, error: PageError | Problem, renamed: Mapping[str, str], known: frozenset[str]) -> "FormFaults":
        """Return the faults that a failure names; a fault of a field that the form lacks has no name."""
        if isinstance(error, cls):
            return error
        if isinstance(error, PageError):
            return cls({"": error.text})
        by_slug = {"category-not-found": {"code": error.detail}, "brand-not-found": {"slug": error.detail}}
        listed = {fault["parameter"]: fault["detail"] for fault in error.extra.get("errors") or []}
        faults = listed or by_slug.get(error.type.slug) or {"": error.detail}
        named = {renamed.get(name, name): text for name, text in faults.items()}
        return cls({name if name in known else "": text for name, text in named.items()})


def _first(text: Any) -> str:
    while not isinstance(text, str):
        text = next(iter(text.values())) if isinstance(text, dict) else text[0]
    return text
