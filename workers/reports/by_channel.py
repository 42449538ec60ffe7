"""Insights for each channel apart: `group_by=channel`."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from shared.errors import InvalidParameter
from workers.reports.filters import Filter

Rows = Callable[[Filter], list[dict[str, Any]]]


def is_grouped(parameters: dict[str, Any]) -> bool:
    """Tell whether each channel has rows of its own. Raises InvalidParameter for any other group."""
    groups = parameters.get("group_by") or []
    if groups not in ([], ["channel"]):
        raise InvalidParameter("group_by", "must be channel")
    return bool(groups)


def by_channel(chosen: Filter, codes: dict[int, str], rows: Rows) -> Iterator[dict[str, Any]]:
    """Yield the rows of a filter for each of its channels, in the order of their codes; `codes` are all channels'."""
    wanted = codes if chosen.channels is None else {number: codes[number] for number in chosen.channels}
    for number, code in sorted(wanted.items(), key=lambda one: one[1]):
        for row in rows(replace(chosen, channels=(number,))):
            yield {**row, "channel": code}


def with_channel(schema: pa.Schema) -> pa.Schema:
    """Return a schema with a column for the channel before the currency."""
    return schema.insert(schema.get_field_index("currency"), pa.field("channel", pa.string()))
