"""The Model Context Protocol's messages: JSON-RPC 2.0."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

import msgspec

from edge.http.json import decode_json
from shared.errors import CopyableError, InvalidJson
from shared.json_types import JsonValue

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

    def __init__(self, code: int, message: str, data: Mapping[str, object] | None = None) -> None:
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
    params: Mapping[str, JsonValue]
    id: MessageId
    is_notification: bool

    @property
    def meta(self) -> Mapping[str, JsonValue]:
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
    given = value.get("id")
    id = given if _is_id(given) else None
    if "id" in value and id is None:
        raise MalformedMessage(INVALID_REQUEST, f"`id` must be a number, or text of {_ID_CHARACTERS_MAX} characters.")
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
        raise MalformedMessage(
            INVALID_REQUEST, "A message has `jsonrpc` 2.0, a `method`, and `params` as an object.", id
        )
    return Message(method, params, id, "id" not in value)


def encode_result(id: MessageId, result: Mapping[str, object]) -> bytes:
    """Encode the answer to a request."""
    return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "result": result})


def encode_error(id: MessageId, error: RpcError) -> bytes:
    """Encode the refusal of a request; `id` is null where it could not be read."""
    error_object: dict[str, object] = {"code": error.code, "message": error.message}
    if error.data is not None:
        error_object["data"] = error.data
    return _ENCODER.encode({"jsonrpc": "2.0", "id": id, "error": error_object})


def _is_id(value: JsonValue) -> TypeGuard[str | float]:
    if isinstance(value, str):
        return len(value) <= _ID_CHARACTERS_MAX
    return isinstance(value, int | float) and not isinstance(value, bool)
