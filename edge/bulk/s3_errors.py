"""Refusals of the bucket, in S3's own form."""

from collections.abc import Mapping

from aiohttp import web

from edge.bulk.s3_xml import xml_document
from edge.http.context import CONTEXT
from edge.http.problems import Problem
from edge.http.redaction import without_credentials

REQUEST_ID_FIELD = "x-amz-request-id"
# What a client of S3 knows each of our problems as; others are named by their status.
_CODES = {
    "rate-limited": "TooManyRequests",
    "dataset-not-found": "NoSuchKey",
    "result-expired": "NoSuchKey",
    "not-found": "NoSuchKey",
    "range-not-satisfiable": "InvalidRange",
    "precondition-failed": "PreconditionFailed",
    "method-not-allowed": "MethodNotAllowed",
    "not-implemented": "NotImplemented",
    "service-unavailable": "ServiceUnavailable",
    "internal-error": "InternalError",
    "upstream-error": "InternalError",
    "content-too-large": "EntityTooLarge",
}
# Which of our problems a code of S3 is, for the status and for our own log.
_SLUGS = {
    "AccessDenied": "invalid-signature",
    "InvalidPartNumber": "range-not-satisfiable",
    "NoSuchVersion": "dataset-not-found",
    "AuthorizationHeaderMalformed": "invalid-request",
    "AuthorizationQueryParametersError": "invalid-request",
    "ExpiredToken": "invalid-request",
    "InvalidAccessKeyId": "invalid-signature",
    "InvalidArgument": "invalid-request",
    "InvalidRequest": "invalid-request",
    "InvalidToken": "invalid-request",
    "RequestTimeTooSkewed": "invalid-signature",
    "SignatureDoesNotMatch": "invalid-signature",
    "SlowDown": "rate-limited",
}


class S3Problem(Problem):
    """A problem with the code that S3's clients know it by."""

    def __init__(self, code: str, detail: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(_SLUGS[code], detail, fields=fields)
        self.code = code


def error_document(problem: Problem, request: web.Request) -> web.Response:
    """Write a problem as S3's own error document."""
    code = getattr(problem, "code", None) or _CODES.get(problem.type.slug, "InvalidRequest")
    members = {"Code": code, "Message": problem.detail, "Resource": without_credentials(request.rel_url.raw_path)}
    request_id = request[CONTEXT].request_id
    body = xml_document("Error", (*members.items(), ("RequestId", request_id)), namespace="")
    fields = {"Cache-Control": "no-store", REQUEST_ID_FIELD: request_id, **problem.fields}
    return web.Response(
        status=problem.type.status, reason=problem.type.title, body=body, content_type="application/xml", headers=fields
    )
