"""A client of /mcp that speaks both revisions of the protocol, and keeps the HTTP answer beside the message."""

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.support.client import Answer, Edge

STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"
TASKS = "io.modelcontextprotocol/tasks"
_CHARGES = itertools.count(1)


@asynccontextmanager
async def sdk_client(address: str, head: dict[str, str], mode: str = "auto") -> AsyncIterator[Any]:
    """Connect the protocol's own client to the service at HOST:PORT, with the headers of a credential."""
    from mcp.client import Client  # only here: it takes two seconds, in each process that collects tests
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    async with create_mcp_http_client(headers=head) as http:
        transport = streamable_http_client(f"http://{address}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@dataclass
class Mcp:
    """One caller, that numbers its requests from 1; `head` are the headers of its credential."""

    edge: Edge
    head: dict[str, str]
    version: str = STATELESS
    tasks: bool = False
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def ask(self, method: str, params: dict[str, Any] | None = None, **head: str | None) -> Answer:
        """Send a request with the headers that its revision demands; `head` replaces some, None leaves one out."""
        params, fields = dict(params or {}), {"MCP-Protocol-Version": self.version}
        if self.version == STATELESS:
            capabilities = {"extensions": {TASKS: {}}} if self.tasks else {}
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
                **params.get("_meta", {}),
            }
            fields |= {"Mcp-Method": method}
            if "name" in params or "taskId" in params:
                fields["Mcp-Name"] = str(params.get("name", params.get("taskId")))
        message = {"jsonrpc": "2.0", "id": next(self.numbers), "method": method, "params": params}
        return await self.post(msgspec.json.encode(message), **{**fields, **head})

    async def post(self, body: bytes, **head: str | None) -> Answer:
        """Send a body as nginx would."""
        number = next(_CHARGES)
        fields = {
            "X-Real-IP": "192.0.2.1",
            "X-Charge-Id": f"f{number:031x}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self.head,
            **head,
        }
        given = {name: value for name, value in fields.items() if value is not None}
        async with self.edge.session.post("http://testserver/mcp", data=body, headers=given) as response:
            return Answer(response.status, response.headers, await response.read())

    async def call(self, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool; return its result."""
        answer = await self.ask("tools/call", {"name": tool, "arguments": arguments or {}})
        assert answer.status == 200, answer
        result: dict[str, Any] = answer.json["result"]
        return result


def said(result: dict[str, Any]) -> Any:
    """Return the JSON of a tool's text, which an answer has as an object too."""
    [content] = result["content"]
    document = msgspec.json.decode(content["text"])
    assert result["isError"] == ("structuredContent" not in result)
    assert result.get("structuredContent", document) == document
    return document
