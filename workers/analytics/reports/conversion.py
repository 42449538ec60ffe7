"""A report's amounts in another currency: each row at the rate of its period's last day."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from shared.analytics.exchange import (
    AGE_DAYS_MAX,
    ORIGINAL,
    ROUNDING,
    Converter,
    by_currency,
    converted,
    unknown_table,
    with_original,
)
from shared.analytics.exchange import SQL as RATES
from shared.analytics.results import Rows
from shared.db.connect import Connection
from workers.analytics.reports.periods import EPOCH, last_day_of
from workers.analytics.reports.result import Answer


def convert(connection: Connection, answer: Answer, parameters: dict[str, Any]) -> Answer:
    """Return the answer in the currency that `convert` asks for, or as it is where nothing does.

    In the snapshot of the answer. Raises InvalidParameter where the table is unknown or has no rate for a row.
    """
    if parameters.get("convert") is None:
        return answer
    schema, rows = answer.rows.schema, answer.table.to_pylist()
    days = [last_day_of(row["period"], parameters.get("granularity"), answer.days.last) for row in rows]
    currencies = {row["currency"] for row in rows}
    converter = _converter(connection, parameters["convert"], str(parameters["rates"]), currencies, days)
    made = [
        {**converted(row, converter.rate(row["currency"], day)), "currency": converter.to, ORIGINAL: row["currency"]}
        for row, day in zip(rows, days, strict=True)
    ]
    return replace(
        answer,
        rows=Rows.of(made, with_original(schema)),
        rounding={**answer.rounding, **dict.fromkeys(_amounts(schema), ROUNDING)},
        conversion=converter.meta(),
    )


def _converter(connection: Connection, to: str, name: str, currencies: set[str], days: list[date]) -> Converter:
    first, last = (min(days), max(days)) if days else (EPOCH, EPOCH)
    values = (name, sorted(currencies | {to}), first - timedelta(days=AGE_DAYS_MAX), last)
    row = connection.execute(RATES.table, values).fetchone()
    if row is None:
        raise unknown_table(name)
    title, url, _, *columns = row
    return Converter(to, name, title, url, by_currency(*columns))


def _amounts(fields: Any, before: str = "") -> list[str]:
    """Return the names of all amounts; those in lists of objects with the list's name before theirs."""
    names = []
    for one in fields:
        kind = one.type.value_type if pa.types.is_list(one.type) else one.type
        if pa.types.is_decimal(kind):
            names.append(before + one.name)
        elif pa.types.is_struct(kind):
            names += _amounts(kind, f"{before}{one.name}.")
    return names
