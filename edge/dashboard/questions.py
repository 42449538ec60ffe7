"""The question of a report or an export in words. Pure."""

from collections.abc import Mapping
from typing import Any

from edge.analytics.wording import NO_NAMES, Names, names_in_words
from shared.analytics.observations import UNIT_PRICE

# The id of what another parameter names for people.
_IDS = frozenset({"weights_id"})
_SUBJECTS = ("dataset", "slug", "code", "brand", "category")


def question(parameters: Mapping[str, Any], defaults: Mapping[str, Any], names: Names = NO_NAMES) -> str:
    """Return a question's parameters in words: its subject first; a parameter that equals its default is left out."""
    requested = {
        name: value
        for name, value in parameters.items()
        if value not in (None, "", [], {}) and value is not False and value != defaults.get(name) and name not in _IDS
    }
    subject = ", ".join(names_in_words(name, requested.pop(name), names) for name in _SUBJECTS if name in requested)
    first, last = requested.pop("from", None), requested.pop("to", None)
    parts = [subject or "all"]
    if first or last:
        parts.append(f"{first or 'the first day'} to {last or 'the last day'}")
    if "granularity" in requested:
        parts.append(f"by {requested.pop('granularity')}")
    if "group_by" in requested:
        parts.append(f"grouped by {_joined(requested.pop('group_by'), ' and ')}")
    if "sort" in requested:
        by = requested.pop("sort")
        parts.append(f"sorted by {by.removeprefix('-')}{', descending' if by.startswith('-') else ''}")
    if "limit" in requested:
        parts.append(f"first {requested.pop('limit')}")
    if requested.get("measure") == UNIT_PRICE:
        parts.append(f"prices per {requested.pop('unit')}")
        del requested["measure"]
    parts += [f"{name.replace('_', ' ')} {_joined(value)}" for name, value in requested.items()]
    return " · ".join(parts)


def export_question(request: Mapping[str, Any], names: Names = NO_NAMES) -> str:
    """Return an export in words: its dataset, its filters, since when; not its columns and format."""
    return question(
        {"dataset": request["dataset"], **(request.get("filter") or {}), "since": request.get("since")}, {}, names
    )


def _joined(value: Any, joint: str = ", ") -> str:
    return joint.join(map(str, value)) if isinstance(value, list) else str(value)
