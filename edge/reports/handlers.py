"""GET /index/cohorts, /index/insights/…, /index/rollups/sustainability: one question each, one desk for all."""

from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web
from aiohttp_apispec import docs, match_info_schema, querystring_schema, response_schema

from edge.http.parameters import PATH, QUERY
from edge.jobs.schemas import Job
from edge.reports import schemas
from edge.reports.service import ReportService
from shared.jobs.contract import BRAND_INSIGHTS, CATEGORY_INSIGHTS, COHORTS, SUSTAINABILITY_ROLLUP
from shared.results.layout import MEDIA_TYPES

_HOW = (
    " Answered at once where the answer is there; else it becomes a job, and the call waits for it (`Prefer: wait=0` "
    "to `wait=30`, 10 s if you say nothing) before it answers 202. Equal questions share one job."
)


def _report(operation: str, summary: str, sentence: str, reply: type[schemas.Reply]) -> Callable[[Any], Any]:
    """Declare what all reports answer alike."""

    def declare(handler: Any) -> Any:
        told = docs(
            operationId=operation,
            summary=summary,
            description=sentence + _HOW,
            tags=["reports"],
            produces=list(MEDIA_TYPES.values()),
            responses={
                "206": {"description": "The part that `Range` asks for."},
                "304": {"description": "Your copy is current."},
            },
        )
        handler = response_schema(Job(), 202, description="The job that makes it; `Location` is its address")(handler)
        handler = response_schema(reply(), 200, description="The report, or with `dry_run` its price")(handler)
        return told(handler)

    return declare


class Cohorts:
    """GET /index/cohorts."""

    def __init__(self, desk: ReportService) -> None:
        self._desk = desk

    async def units(self, request: web.Request) -> int:
        """Return what this question costs."""
        parameters = _spelled(request, schemas.COHORT_NAMES)
        return await self._desk.price(request, COHORTS, parameters)

    @_report(
        "getCohorts", "Prices of a cohort", "Exact percentiles of prices per group and period.", schemas.CohortReply
    )
    @querystring_schema(schemas.CohortsQuery())
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the cohort."""
        return await self._desk.answer(request)


class CategoryInsights:
    """GET /index/insights/categories[/{code}]."""

    def __init__(self, desk: ReportService) -> None:
        self._desk = desk

    async def units(self, request: web.Request) -> int:
        """Return what this question costs."""
        code = _named(request, "code")
        names = schemas.INSIGHTS_NAMES if code else schemas.CATEGORY_LIST_NAMES
        parameters = {"code": code, **_spelled(request, names)}
        return await self._desk.price(request, CATEGORY_INSIGHTS, parameters)

    @_report(
        "listCategoryInsights",
        "Insights of all categories",
        "Items, prices, change, channels and rank of each.",
        schemas.CategoryReply,
    )
    @querystring_schema(schemas.CategoryListQuery())
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with all categories."""
        return await self._desk.answer(request)

    @_report(
        "getCategoryInsights",
        "Insights of one category",
        "Items, prices, change, channels and rank.",
        schemas.CategoryReply,
    )
    @match_info_schema(schemas.CategoryPath())
    @querystring_schema(schemas.InsightsQuery())
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one category."""
        return await self._desk.answer(request)


class BrandInsights:
    """GET /index/insights/brands[/{slug}]."""

    def __init__(self, desk: ReportService) -> None:
        self._desk = desk

    async def units(self, request: web.Request) -> int:
        """Return what this question costs."""
        slug = _named(request, "slug")
        names = schemas.INSIGHTS_NAMES if slug else schemas.BRAND_LIST_NAMES
        parameters = {"slug": slug, **_spelled(request, names)}
        return await self._desk.price(request, BRAND_INSIGHTS, parameters)

    @_report(
        "listBrandInsights",
        "Insights of all brands",
        "Rank, percentile, prices against their categories, peers.",
        schemas.BrandReply,
    )
    @querystring_schema(schemas.BrandListQuery())
    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with all brands."""
        return await self._desk.answer(request)

    @_report(
        "getBrandInsights",
        "Insights of one brand",
        "Rank, percentile, prices against its categories, peers.",
        schemas.BrandReply,
    )
    @match_info_schema(schemas.BrandPath())
    @querystring_schema(schemas.InsightsQuery())
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with one brand."""
        return await self._desk.answer(request)


class SustainabilityRollup:
    """GET /index/rollups/sustainability."""

    def __init__(self, desk: ReportService) -> None:
        self._desk = desk

    async def units(self, request: web.Request) -> int:
        """Return what this question costs."""
        parameters = _spelled(request, schemas.ROLLUP_NAMES)
        return await self._desk.price(request, SUSTAINABILITY_ROLLUP, parameters)

    @_report(
        "getSustainabilityRollup",
        "What all of it costs the planet",
        "Units, CO2e, water and waste per period and group.",
        schemas.RollupReply,
    )
    @querystring_schema(schemas.RollupQuery())
    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with the rollup."""
        return await self._desk.answer(request)


def _spelled(request: web.Request, names: Sequence[str]) -> dict[str, Any]:
    return schemas.canonical(request[QUERY], names)


def _named(request: web.Request, name: str) -> str | None:
    """Return what the path names; None where the route asks for all."""
    return request[PATH][name] if name in request.match_info else None
