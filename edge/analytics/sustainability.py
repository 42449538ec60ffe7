"""GET /index/sustainability/{iid}: the footprint of an item, and its evidence."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa
from aiohttp import web

from edge.analytics.light_reads import LightRead, ReadRows, range_of
from edge.analytics.schemas import SustainabilityQuery, SustainabilityReport
from edge.http.validation import PATH, QUERY
from shared.analytics.footprint import INDICATORS, FootprintFigure, Indicator, nearest, weight_of
from shared.analytics.observations import coverage
from shared.analytics.results import DOUBLE, NINE_DIGITS
from shared.db.queries import load_queries
from shared.uncertainty.stated import Displacement, Interval, Stated, requested_displacement

SQL = load_queries(__file__, "sustainability.sql")
_BOUNDS = ("low", "central", "high", "cumulative_low", "cumulative_central", "cumulative_high")
_AVOIDED = ("avoided_low", "avoided", "avoided_high")
METHOD = (
    "an indicator's figure is the item's own, else its product type's per kilogram times its weight, else that of its "
    "nearest category, of factors whose kilogram is of the same basis as the item's weight; cumulative is per_unit "
    "times the units sold where sales are known, else per_unit once (basis); null where no source has a figure; stages "
    "are those that sources list, which need not add up to the figure; a figure is the mean of a log-normal, of which "
    "low to high are the middle 95 %, the mean always among them, and central the median: as wide as the source states "
    "(interval_from: source), as samples within categories lie apart (samples), or by the pedigree matrix (pedigree) "
    "with the scores that the source states or, without any, assumed ones: measured ×/÷ 1.10, modelled ×/÷ 2.54; "
    "avoided is the displacement rate times the cumulative figure of all units sold in the channels chosen, also those "
    "sold new"
)
ROUNDING = {
    **dict.fromkeys(("per_unit", "cumulative", "per_kg", "weight_kg", "stages.per_unit"), DOUBLE),
    **dict.fromkeys((*_BOUNDS, *_AVOIDED), NINE_DIGITS),
}
SCHEMA = pa.schema(
    [
        ("indicator", pa.string()),
        ("unit", pa.string()),
        ("per_unit", pa.float64()),
        ("units_observed", pa.int64()),
        ("cumulative", pa.float64()),
        ("basis", pa.string()),
        ("scope", pa.string()),
        ("code", pa.string()),
        ("per_kg", pa.float64()),
        ("weight_kg", pa.float64()),
        ("source", pa.string()),
        ("license", pa.string()),
        ("method", pa.string()),
        ("samples", pa.int64()),
        ("cumulative_basis", pa.string()),
        *((name, pa.float64()) for name in _BOUNDS),
        ("interval_from", pa.string()),
        *((name, pa.float64()) for name in _AVOIDED),
        (
            "stages",
            pa.list_(
                pa.struct(
                    [
                        ("stage", pa.string()),
                        ("per_unit", pa.float64()),
                        ("basis", pa.string()),
                        ("method", pa.string()),
                    ]
                )
            ),
        ),
        ("weight_basis", pa.string()),
        ("as_of", pa.date32()),
        ("pedigree", pa.string()),
        ("reference_year", pa.int64()),
    ]
)
# PostgreSQL's numbers are exact; read as decimals they stay so.
_DECODER = msgspec.json.Decoder(float_hook=Decimal)


class SustainabilityReads(LightRead):
    """Reads the footprint of an item: one row for each indicator."""

    kind = "sustainability"
    path = "sustainability/{iid}"
    operation = "getSustainability"
    summary = "Sustainability of one item"
    description = "Each indicator per unit and cumulative, with its source and any life-cycle stages."
    query = SustainabilityQuery
    reply = SustainabilityReport
    answer = "The figures, or their cost"

    async def find(self, request: web.Request) -> ReadRows:
        query = request[QUERY]
        displacement = requested_displacement(query["displacement"], query["displacement_rate"])
        rows, meta = await self.figures(
            request[PATH]["iid"],
            query["from_"],
            query["to"],
            query["channel"],
            displacement,
            query_string=request.rel_url.raw_query_string,
        )
        return ReadRows(rows, SCHEMA, meta)

    async def figures(
        self,
        iid: str,
        first: date | None,
        to: date | None,
        channels: Sequence[str],
        displacement: Displacement | None = None,
        *,
        query_string: str = "",
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return an item's rows and their meta. Raises what `find` does."""
        row = await self.item_row(SQL.figures, iid, first, to, channels, channels=channels, query_string=query_string)
        first, last = range_of(first, to, row["last_day"])
        meta = {
            "data_version": row["version"],
            "from": first,
            "to": last,
            "coverage": coverage(first, last, row["days"], row["first"], row["last"]),
            "units": {"units_observed": "units", "per_kg": "unit of the indicator a kg", "weight_kg": "kg"},
            "method": METHOD,
            "rounding": ROUNDING,
            "basis": _basis(row["units"]),
            "displacement": displacement._asdict() if displacement else None,
        }
        return _rows(row, displacement), meta


def _rows(row: Mapping[str, Any], displacement: Displacement | None) -> list[dict[str, Any]]:
    """Make one row for each indicator; a figure that no source has is null, never 0."""
    impacts, factors = (_DECODER.decode(row[name]) if row[name] else [] for name in ("impacts", "factors"))
    figures, units = (
        nearest(impacts, factors, weight_of(row["weight"], row["volume"], row["density"])),
        row["units"] or 0,
    )
    stages: dict[str, list[dict[str, Any]]] = {indicator.code: [] for indicator in INDICATORS}
    for stage in _DECODER.decode(row["stages"]) if row["stages"] else ():
        stages[stage.pop("indicator")].append(stage | {"per_unit": float(stage["per_unit"])})
    return [
        _row(indicator, figures.get(indicator.code), units)
        | {"stages": stages[indicator.code]}
        | _interval(figures.get(indicator.code), units, displacement)
        for indicator in INDICATORS
    ]


def _basis(units_sold: int | None) -> str:
    return "sales" if units_sold else "assortment"


def _interval(figure: FootprintFigure | None, units: int, displacement: Displacement | None) -> dict[str, Any]:
    """Return the bounds of a figure, of all units together, and of what these avoid; of no sale nothing is avoided."""
    if figure is None or figure.stated is None:
        return {}
    one = _rounded(figure.stated, figure.per_unit)
    all_units = _rounded(figure.stated.times(units or 1), figure.per_unit * (units or 1))
    bounds = {**dict(zip(_BOUNDS, (*one, *all_units), strict=True)), "interval_from": figure.stated.origin}
    if displacement is not None and units:
        avoided = (all_units.low, float(figure.per_unit * units), all_units.high)
        bounds |= {
            name: _nine_digits(displacement.rate * amount) for name, amount in zip(_AVOIDED, avoided, strict=True)
        }
    return bounds


def _rounded(stated: Stated, figure: Decimal) -> Interval:
    """Return the interval with nine digits, and the figure, which keeps all of its own, inside."""
    return Interval(*map(_nine_digits, stated.interval)).around(float(figure))


def _nine_digits(value: float) -> float:
    return float(f"{value:.9g}")


def _row(indicator: Indicator, figure: FootprintFigure | None, units: int) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    row |= {
        "indicator": indicator.code,
        "unit": indicator.unit,
        "units_observed": units,
        "cumulative_basis": _basis(units),
    }
    if figure is not None:
        source = figure.source or {}
        row |= {
            "per_unit": float(figure.per_unit),
            "cumulative": float(figure.per_unit * (units or 1)),
            "basis": figure.basis,
            "scope": figure.scope,
            "code": figure.code,
            "source": source.get("source"),
            "license": source.get("license"),
            "per_kg": float(figure.per_kg) if figure.per_kg is not None else None,
            "method": figure.method,
            "samples": figure.samples,
            "weight_kg": float(figure.weight_kg) if figure.weight_kg is not None else None,
            "weight_basis": figure.weight_basis,
            "as_of": figure.as_of,
            "pedigree": figure.pedigree,
            "reference_year": figure.reference_year,
        }
    return row
