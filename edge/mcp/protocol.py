"""The two supported revisions of the Model Context Protocol: 2026-07-28, which has no session, and the handshake of
2025-11-25.

Source: the MCP specification, `basic/lifecycle` and `basic/transports` of both revisions.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edge.mcp.messages import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Message, RpcError

STATELESS = "2026-07-28"
HANDSHAKE = "2025-11-25"
SPOKEN = (STATELESS, HANDSHAKE)
VERSION_FIELD = "MCP-Protocol-Version"
METHOD_FIELD = "Mcp-Method"
NAME_FIELD = "Mcp-Name"
ROUTING_FIELDS = (VERSION_FIELD, METHOD_FIELD, NAME_FIELD)

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

TASKS = "io.modelcontextprotocol/tasks"
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
# The parameter of a method that its request repeats in `Mcp-Name`.
_NAMED_BY = {"tools/call": "name", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}
_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_BASE64 = re.compile(r"=\?base64\?(.*)\?=")
_LIST_TTL_MS = 300_000
_SERVER = {"name": "item-index", "title": "Item Index", "version": "1.0.0"}
_INSTRUCTIONS = (
    "Item Index: what a thing is, what it sells for, what it costs the planet. Start with find_items or "
    "resolve_identifier; the other tools take the IID. Amounts are decimal text in `currency`. A response has at most "
    "4 kB: for the next page, pass `next_cursor` as `cursor` with the same arguments. Each call counts against the "
    "caller's limits like the REST call; a refusal states when to try again."
)


@dataclass(frozen=True, slots=True)
class McpPeer:
    """What a request states of its sender: whether its revision has no sessions, and whether it follows tasks."""

    stateless: bool
    takes_tasks: bool = False


def peer_of(message: Message, headers: Mapping[str, str]) -> McpPeer:
    """Return the sender's revision and capabilities. Raises RpcError where headers and message disagree."""
    version = headers.get(VERSION_FIELD)
    if version is not None and version not in SPOKEN and _VERSION_KEY not in message.meta:
        raise unsupported_version(version)
    if version in (None, HANDSHAKE) and _VERSION_KEY not in message.meta:
        return McpPeer(stateless=False)
    if message.is_notification:
        return McpPeer(stateless=True)
    return _stateless_peer(message, headers)


def _stateless_peer(message: Message, headers: Mapping[str, str]) -> McpPeer:
    missing = [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in message.meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"`params._meta` needs {' and '.join(missing)}.")
    version, capabilities = message.meta[_VERSION_KEY], message.meta[_CAPABILITIES_KEY]
    _check_headers(message, headers, version)
    if not isinstance(version, str) or not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"{_VERSION_KEY} must be text, and {_CAPABILITIES_KEY} an object.")
    if version != STATELESS:
        raise unsupported_version(version)
    extensions = capabilities.get("extensions")
    return McpPeer(stateless=True, takes_tasks=isinstance(extensions, dict) and TASKS in extensions)


def _check_headers(message: Message, headers: Mapping[str, str], version: object) -> None:
    """Refuse headers that say something else than the message: an intermediary may have routed by them."""
    expected = {VERSION_FIELD: version, METHOD_FIELD: message.method}
    name = message.params.get(_NAMED_BY.get(message.method, ""))
    if isinstance(name, str):
        expected[NAME_FIELD] = name
    for field, value in expected.items():
        text = headers.get(field)
        given = None if text is None else text.strip()
        if given is None or (_decode(given) if field == NAME_FIELD else given) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {field} is required and must match the body.")


def _decode(text: str) -> str | None:
    """Return the text of a header value: itself, or the UTF-8 that it holds as base64."""
    match = _BASE64.fullmatch(text)
    if match is None:
        return text
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def repeated_field(names: Sequence[str]) -> str | None:
    """Return a routing header that comes twice: two readers could each believe another one of them."""
    given = [name.lower() for name in names]
    return next((field for field in ROUTING_FIELDS if given.count(field.lower()) > 1), None)


def unsupported_version(version: str) -> RpcError:
    """Return the refusal of a revision, with those that are spoken."""
    # The revision with a handshake, asked for without one, is refused too: then the other one is supported.
    data = {"supported": [known for known in SPOKEN if known != version], "requested": version[:40]}
    return RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def missing_tasks() -> RpcError:
    """Return the refusal of a method that only clients with the tasks extension may call."""
    needed: dict[str, object] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    return RpcError(MISSING_CAPABILITY, f"This method needs the client's capability {TASKS}.", needed)


def status_of(error: RpcError, *, stateless: bool) -> int:
    """Return the HTTP status of an error. With a handshake a well-formed request's errors are answers like others."""
    if not stateless and error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
        return 200
    return _STATUS.get(error.code, 200)


def discovery_result() -> dict[str, object]:
    """Return the result of `server/discover`."""
    capabilities: dict[str, object] = {"tools": {}, "extensions": {TASKS: {}}}
    result = {"supportedVersions": [*SPOKEN], "capabilities": capabilities, "instructions": _INSTRUCTIONS}
    return {**result, **cacheable()}


def initialize_result() -> dict[str, object]:
    """Return the result of the handshake's `initialize`; a client that wants another revision is offered this one."""
    result = {"protocolVersion": HANDSHAKE, "capabilities": {"tools": {}}, "serverInfo": _SERVER}
    return {**result, "instructions": _INSTRUCTIONS}


def cacheable() -> dict[str, object]:
    """Return how long a result that is the same for everyone may be kept."""
    return {"ttlMs": _LIST_TTL_MS, "cacheScope": "public"}


def with_server_info(result: Mapping[str, object], *, stateless: bool) -> dict[str, object]:
    """Return a result with what its revision adds to each: its type, and the server that it comes from."""
    if not stateless:
        return dict(result)
    return {"resultType": "complete", **result, "_meta": {_SERVER_KEY: _SERVER}}
