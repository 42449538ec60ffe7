"""The protocol's own clients, `mcp` and `fastmcp`, list the tools and call them, in both revisions."""

from collections.abc import AsyncIterator

import jsonschema
import msgspec
import pytest
from aiohttp import web

from edge.mcp.tools import TOOLS_BY_NAME
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Edge
from tests.support.mcp import sdk_client
from tests.support.servers import Contents
from tests.support.shop import open_shop


@pytest.fixture(scope="module")
def contents() -> Contents:
    return open_shop


SOY = mint("shop", "1").iid


@pytest.fixture
async def address(edge: Edge) -> AsyncIterator[str]:
    """The address of the edge on TCP: these clients know no unix socket."""
    site = web.TCPSite(edge.runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"{edge.runner.addresses[-1][0]}:{edge.runner.addresses[-1][1]}"
    finally:
        await site.stop()


@pytest.fixture
def head(settings: Settings) -> dict[str, str]:
    return {"Authorization": f"ApiKey {api_key(settings)}"}


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_sdks_client_negotiates_lists_and_calls(
    address: str, head: dict[str, str], mode: str, version: str
) -> None:
    async with sdk_client(address, head, mode) as client:
        assert client.protocol_version == version
        assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS_BY_NAME)
        found = await client.call_tool("find_items", {"query": "soy milk"})
        assert not found.is_error
        assert msgspec.json.decode(found.content[0].text)["items"][0]["iid"] == SOY
        # The client itself holds it against the tool's output schema.
        assert found.structured_content == msgspec.json.decode(found.content[0].text)
        refused = await client.call_tool("get_item", {"iid": "nope"})
        assert refused.is_error
        assert msgspec.json.decode(refused.content[0].text)["type"].endswith("/invalid-iid")


async def test_fastmcps_client_lists_and_calls(address: str, head: dict[str, str]) -> None:
    import fastmcp  # only here: it takes a second, in each process that collects tests
    from fastmcp.client.transports import StreamableHttpTransport

    async with fastmcp.Client(StreamableHttpTransport(f"http://{address}/mcp", headers=head)) as client:
        assert {tool.name for tool in await client.list_tools()} == set(TOOLS_BY_NAME)
        answer = await client.call_tool("compare_items", {"iids": [SOY, mint("shop", "2").iid]})
        assert [item["name"] for item in msgspec.json.decode(answer.content[0].text)["items"]] == [
            "Soy milk 1L",
            "Crème brûlée",
        ]


async def test_what_each_tool_answers_fits_its_output_schema(address: str, head: dict[str, str]) -> None:
    arguments: dict[str, dict[str, object]] = {
        "find_items": {"query": "soy milk"},
        "resolve_identifier": {"sku": "1", "source": "shop"},
        "compare_items": {"iids": [SOY, mint("shop", "2").iid]},
        "market_report": {"report": "cohorts", "brand": ["vita"], "dry_run": True},
        "how_am_i_counted": {},
    }
    async with sdk_client(address, head) as client:
        listed = {one.name: one for one in (await client.list_tools()).tools}
        for tool in TOOLS_BY_NAME:
            answer = await client.call_tool(tool, arguments.get(tool, {"iid": SOY}))
            assert not answer.is_error, answer
            schema = listed[tool].output_schema
            jsonschema.validate(answer.structured_content, {**schema, "minProperties": 1})
            assert set(schema["properties"]) & set(answer.structured_content), tool
