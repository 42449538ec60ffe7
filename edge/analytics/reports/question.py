"""The parameters of all reports, and a question in its one spelling."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any

from marshmallow import ValidationError, validates_schema

from edge.analytics.reports.fields import granularity
from edge.http.parameters import CurrencyCode, Day, Flag, QueryParameters, Utf8, field_doc, list_parameter, one_of
from shared.analytics.manifest import MEDIA_TYPES

# How an answer is returned, not what is asked: equal questions in different formats are one computation each.
_PRESENTATION = frozenset({"format", "dry_run"})
# They come first in a question's one spelling, which a dry run returns.
_SELECTION = ("brand", "category")


class ReportQuery(QueryParameters):
    """The parameters of all reports."""

    from_ = Day(data_key="from", load_default=None, metadata=field_doc("First day; default: 89 days before `to`"))
    to = Day(load_default=None, metadata=field_doc("Last day, inclusive"))
    granularity = granularity(None)
    channel = list_parameter(Utf8(1, 200), "Only this channel; repeat to select several", example="WELLCOME")
    currency = CurrencyCode()
    format = one_of(MEDIA_TYPES, "Format of the response; default: the one preferred by `Accept`")
    dry_run = Flag(load_default=False, metadata=field_doc("Return the cost without charging"))

    @validates_schema
    def in_order(self, data: Mapping[str, Any], **options: Any) -> None:
        """The first day must not come after the last."""
        first, last = data.get("from_"), data.get("to")
        if first is not None and last is not None and first > last:
            raise ValidationError("must not be before `from`", "to")


@cache
def question_names(query: type[ReportQuery]) -> tuple[str, ...]:
    """Return the parameters of a query that say what is asked, by the names that callers use, in one order."""
    names = [field.data_key or name for name, field in query().fields.items()]
    return tuple(sorted((name for name in names if name not in _PRESENTATION), key=lambda name: name not in _SELECTION))


def question_of(query: type[ReportQuery], loaded: dict[str, Any]) -> dict[str, Any]:
    """Return a question in its one spelling: days as text, lists sorted without duplicates, groups in their order."""
    spelled: dict[str, Any] = {}
    for name in question_names(query):
        value = loaded["from_" if name == "from" else name]
        if isinstance(value, list):
            value = list(dict.fromkeys(value)) if name == "group_by" else sorted(set(value))
        spelled[name] = value.isoformat() if isinstance(value, date) else value
    return spelled
