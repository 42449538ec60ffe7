"""The Model Context Protocol's messages: JSON-RPC 2.0, in the two revisions that are spoken."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from edge.http.json import decode_json
from shared.errors import CopyableError, InvalidJson

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
_ID_CHARACTERS_MAX = 128
_ENCODER = msgspec.json.Encoder()

MessageId = str | int | float | None


class RpcError(CopyableError):
    """An error of the protocol: a JSON-RPC code, a sentence, and more members where the code has some."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class MalformedMessage(RpcError):
    """The body is no message. `id` is the request's where one could be read."""

    def __init__(self, code: int, message: str, id: MessageId = None) -> None:
        super().__init__(code, message)
        self.id = id


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification, which has no id and gets no answer."""

    method: str
    params: Mapping[str, Any]
    id: MessageId
    is_notification: bool

    @property
    def meta(self) -> Mapping[str, Any]:
        """The members of `params._meta`; empty where there are none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def message_of(body: bytes) -> Message:
    """Read one message. Raises MalformedMessage: batches and answers to requests of the server are none."""
    try:
        value = decode_json(body)
    except InvalidJson as error:
        raise MalformedMessage(PARSE_ERROR, error.detail) from None
    if not isinstance(value, dict):
        raise MalformedMessage(INVALID_REQUEST, "The body must be one JSON-RPC request or notification.")
    id = value.get("id")
    if "id" in value and not _is_id(id):
        raise MalformedMessage(INVALID_REQUEST, f"`id` must be a number, or text of {_ID_CHARACTERS_MAX} characters.")
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
        raise MalformedMessage(
            INVALID_REQUEST, "A message has `jsonrpc` 2.0, a `method`, and `params` as an object.", id
        )
    return Message(method, params, id, "id" not in value)


def encoded_result(id: MessageId, result: Mapping[str, Any]) -> bytes:
    """Encode the answer to a request."""
    return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "result": result})


def encoded_error(id: MessageId, error: RpcError) -> bytes:
    """Encode the refusal of a request; `id` is null where it could not be read."""
    error_object: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        error_object["data"] = error.data
    return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "error": error_object})


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _ID_CHARACTERS_MAX
    return isinstance(value, int | float) and not isinstance(value, bool)


# The two revisions of the protocol that are spoken: 2026-07-28, which has no session, and the handshake of
# 2025-11-25. Source: the MCP specification, `basic/lifecycle` and `basic/transports` of both revisions. Pure.


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
class Peer:
    """What a request states of its sender: whether its revision has no sessions, and whether it follows tasks."""

    stateless: bool
    takes_tasks: bool = False


def peer_of(message: Message, headers: Mapping[str, str]) -> Peer:
    """Return the sender's revision and capabilities. Raises RpcError where headers and message disagree."""
    version = headers.get(VERSION_FIELD)
    if version is not None and version not in SPOKEN and _VERSION_KEY not in message.meta:
        raise unsupported(version)
    if version in (None, HANDSHAKE) and _VERSION_KEY not in message.meta:
        return Peer(stateless=False)
    if message.is_notification:
        return Peer(stateless=True)
    return _stateless_peer(message, headers)


def _stateless_peer(message: Message, headers: Mapping[str, str]) -> Peer:
    missing = [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in message.meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"`params._meta` needs {' and '.join(missing)}.")
    version, capabilities = message.meta[_VERSION_KEY], message.meta[_CAPABILITIES_KEY]
    _check_headers(message, headers, version)
    if not isinstance(version, str) or not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"{_VERSION_KEY} must be text, and {_CAPABILITIES_KEY} an object.")
    if version != STATELESS:
        raise unsupported(version)
    extensions = capabilities.get("extensions")
    return Peer(stateless=True, takes_tasks=isinstance(extensions, dict) and TASKS in extensions)


def _check_headers(message: Message, headers: Mapping[str, str], version: Any) -> None:
    """Refuse headers that say something else than the message: an intermediary may have routed by them."""
    expected = {VERSION_FIELD: version, METHOD_FIELD: message.method}
    name = message.params.get(_NAMED_BY.get(message.method, ""))
    if isinstance(name, str):
        expected[NAME_FIELD] = name
    for field, value in expected.items():
        text = headers.get(field)
        given = None if text is None else text.strip()
        if given is None or (_decoded(given) if field == NAME_FIELD else given) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {field} is required and must match the body.")


def _decoded(text: str) -> str | None:
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


def unsupported(version: str) -> RpcError:
    """Return the refusal of a revision, with those that are spoken."""
    # The revision with a handshake, asked for without one, is refused too: then the other one is supported.
    data = {"supported": [known for known in SPOKEN if known != version], "requested": version[:40]}
    return RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def missing_tasks() -> RpcError:
    """Return the refusal of a method that only clients with the tasks extension may call."""
    needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    return RpcError(MISSING_CAPABILITY, f"This method needs the client's capability {TASKS}.", needed)


def status_of(error: RpcError, *, stateless: bool) -> int:
    """Return the HTTP status of an error. With a handshake a well-formed request's errors are answers like others."""
    if not stateless and error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
        return 200
    return _STATUS.get(error.code, 200)


def discovered() -> dict[str, Any]:
    """Return the result of `server/discover`."""
    capabilities: dict[str, Any] = {"tools": {}, "extensions": {TASKS: {}}}
    result = {"supportedVersions": [*SPOKEN], "capabilities": capabilities, "instructions": _INSTRUCTIONS}
    return {**result, **cacheable()}


def initialized() -> dict[str, Any]:
    """Return the result of the handshake's `initialize`; a client that wants another revision is offered this one."""
    result = {"protocolVersion": HANDSHAKE, "capabilities": {"tools": {}}, "serverInfo": _SERVER}
    return {**result, "instructions": _INSTRUCTIONS}


def cacheable() -> dict[str, Any]:
    """Return how long a result that is the same for everyone may be kept."""
    return {"ttlMs": _LIST_TTL_MS, "cacheScope": "public"}


def signed(result: Mapping[str, Any], *, stateless: bool) -> dict[str, Any]:
    """Return a result with what its revision adds to each: its type, and the server that it comes from."""
    if not stateless:
        return dict(result)
    return {"resultType": "complete", **result, "_meta": {_SERVER_KEY: _SERVER}}
