"""A client of the Item Index API, synchronous (`Client`) and asynchronous (`AsyncClient`)."""

from itemindex_client.aio import AsyncClient
from itemindex_client.client import Client
from itemindex_client.errors import (
    ApiProblem,
    Conflict,
    ConnectionFailed,
    DownloadFailed,
    Gone,
    InsufficientPlan,
    InvalidSetting,
    ItemIndexError,
    JobFailed,
    KeyNeeded,
    NotFound,
    NotVerified,
    RateLimited,
    SeveralCandidates,
    Unavailable,
    UnknownArgument,
    Withdrawn,
)
from itemindex_client.results import Report

__all__ = [
    "ApiProblem",
    "AsyncClient",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "DownloadFailed",
    "Gone",
    "InsufficientPlan",
    "InvalidSetting",
    "ItemIndexError",
    "JobFailed",
    "KeyNeeded",
    "NotFound",
    "NotVerified",
    "RateLimited",
    "Report",
    "SeveralCandidates",
    "Unavailable",
    "UnknownArgument",
    "Withdrawn",
]
