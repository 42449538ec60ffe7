"""The read-only Iceberg REST catalogue of the releases."""

from functools import partial

from aiohttp import hdrs, web

from edge.bulk import iceberg_schemas
from edge.bulk.data_credentials import BUCKET, REGION, DataCredentialService
from edge.bulk.iceberg_metadata import IcebergMetadata
from edge.bulk.iceberg_tables import NAMESPACE, PREFIX, TABLE, address, milliseconds
from edge.bulk.release_repository import ReleaseRepository, dataset_of
from edge.http.context import principal_of
from edge.http.json import NO_STORE, unstored_json
from edge.http.problems import Problem
from edge.http.routing import API_PATH, operation
from edge.http.validation import PATH
from shared.bulk.schema import RELEASED

_operation = partial(operation, "iceberg")


_ENDPOINTS = (
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
)
_ERRORS = {
    404: "NotFoundException",
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    400: "BadRequestException",
    405: "UnsupportedOperationException",
    429: "SlowDownException",
    503: "SlowDownException",
}


def error_members(problem: Problem, request: web.Request) -> dict[str, object]:
    """Return the member `error` that Iceberg's clients read."""
    status = problem.type.status
    kind = _ERRORS.get(status, "ServiceFailureException" if status >= 500 else "BadRequestException")
    if problem.type.slug == "dataset-not-found":
        kind = "NoSuchTableException" if "table" in request.match_info else "NoSuchNamespaceException"
    return {"error": {"message": problem.detail, "type": kind, "code": status}}


class Iceberg:
    """The handlers."""

    def __init__(
        self, repository: ReleaseRepository, metadata: IcebergMetadata, service: DataCredentialService, origin: str
    ) -> None:
        self._repository = repository
        self._metadata = metadata
        self._service = service
        self._origin = origin

    @_operation("icebergConfig", iceberg_schemas.IcebergConfigQuery)
    async def config(self, request: web.Request) -> web.StreamResponse:
        """Configuration of the Iceberg catalogue."""
        document = {"defaults": {}, "overrides": {"prefix": PREFIX}, "endpoints": _ENDPOINTS}
        return unstored_json(document)

    async def token(self, request: web.Request) -> web.StreamResponse:
        """Refuse to exchange credentials for a token, which clients try that are configured with `credential`."""
        raise Problem("invalid-request", "The catalogue issues no tokens. Configure your API key as the `token`.")

    @_operation("icebergNamespaces", iceberg_schemas.IcebergPage)
    async def namespaces(self, request: web.Request) -> web.StreamResponse:
        """List namespaces."""
        return unstored_json({"namespaces": [] if request.query.get("parent") else [[NAMESPACE]]})

    @_operation("icebergNamespace", iceberg_schemas.IcebergNamespacePath)
    async def namespace(self, request: web.Request) -> web.StreamResponse:
        """Read a namespace."""
        _check_namespace(request)
        if request.method == hdrs.METH_HEAD:
            return web.Response(status=204, headers=NO_STORE)
        return unstored_json({"namespace": [NAMESPACE], "properties": {}})

    @_operation("icebergTables", iceberg_schemas.IcebergNamespacePath, iceberg_schemas.IcebergPage)
    async def tables(self, request: web.Request) -> web.StreamResponse:
        """List a namespace's tables."""
        _check_namespace(request)
        newest = await self._repository.newest()
        return unstored_json({"identifiers": [{"namespace": [NAMESPACE], "name": n} for n in RELEASED if n in newest]})

    @_operation("icebergTable", iceberg_schemas.IcebergTablePath, iceberg_schemas.IcebergTableQuery)
    async def table(self, request: web.Request) -> web.StreamResponse:
        """Load a table."""
        _check_namespace(request)
        name = request[PATH]["table"]
        metadata = await self._metadata.table(name)
        if request.method == hdrs.METH_HEAD:
            return web.Response(status=204, headers=NO_STORE)
        newest = metadata["current-snapshot-id"]
        assert isinstance(newest, int)
        credentials = self._credentials(request, name)
        document = {
            "metadata-location": address(name, newest, TABLE),
            "metadata": metadata,
            "config": credentials["config"],
            "storage-credentials": [credentials],
        }
        return unstored_json(document)

    @_operation("icebergCredentials", iceberg_schemas.IcebergTablePath)
    async def credentials(self, request: web.Request) -> web.StreamResponse:
        """Create new credentials for a table's files."""
        _check_namespace(request)
        return unstored_json(
            {"storage-credentials": [self._credentials(request, dataset_of(request[PATH]["table"]).name)]}
        )

    def _credentials(self, request: web.Request, table: str) -> dict[str, object]:
        made = self._service.issue(principal_of(request).credential_id)
        tables = f"{self._origin}{API_PATH}/{PREFIX}/namespaces/{NAMESPACE}/tables"
        config = {
            "s3.endpoint": self._origin,
            "s3.path-style-access": "true",
            "s3.region": REGION,
            "client.region": REGION,
            "s3.access-key-id": made.access_key_id,
            "s3.secret-access-key": made.secret_access_key,
            "s3.session-token": made.session_token,
            "s3.session-token-expires-at-ms": str(milliseconds(made.expires_at)),
            # Where a client that reads for longer than the hour gets the next ones.
            "client.refresh-credentials-endpoint": f"{tables}/{table}/credentials",
        }
        return {"prefix": f"s3://{BUCKET}/{table}", "config": config}


def _check_namespace(request: web.Request) -> None:
    if request[PATH]["namespace"] != NAMESPACE:
        raise Problem("dataset-not-found", f"The namespace is `{NAMESPACE}`.")
