"""A tool costs what its REST call costs, is refused where that is refused, and says the same: a twin account compares."""

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest

from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.support.accounts import api_key
from tests.support.client import Answer, Edge
from tests.support.database import execute
from tests.support.mcp import HANDSHAKE, STATELESS, Mcp, said
from tests.support.servers import Contents
from tests.support.shop import open_shop

IIDS = [mint("shop", str(n)).iid for n in (1, 2, 3)]
ODD_IIDS = [mint("shop", "99").iid, "IID-", "nope", IIDS[0].lower(), ""]
# Of each version; the units of the day end within them.
CALLS = 100
DAILY_UNITS = 40


class Twin(NamedTuple):
    """A call of a tool and the REST call that it stands for."""

    tool: str
    arguments: dict[str, Any]
    path: str


@pytest.fixture
def contents() -> Contents:
    return open_shop


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A plan whose day ends within the test, and no limit of a second, which would depend on the machine."""
    execute(settings, "UPDATE plans SET daily_units = $1, burst_units = 1000000 WHERE name = 'brand'", DAILY_UNITS)
    return settings


def iid(chance: random.Random) -> str:
    return chance.choice(IIDS if chance.random() < 0.7 else ODD_IIDS)


def search(chance: random.Random) -> Twin:
    q = chance.choice(["soy", "vita milk", "豆奶", "IID-", IIDS[0], "x" * 201, ""])
    filters = {name: value for name, value in (("brand", "vita"), ("category", "none")) if chance.random() < 0.2}
    limit = {"limit": chance.randrange(1, 51)} if chance.random() < 0.5 else {}
    asked = {**filters, **limit}
    return Twin("find_items", {"query": q, **asked}, f"/index/search?{urlencode({'q': q, **asked})}")


def item(chance: random.Random) -> Twin:
    one = iid(chance)
    return Twin("get_item", {"iid": one}, f"/index/lookup/{quote(one) or '%20'}")


def identifier(chance: random.Random) -> Twin:
    asked = chance.choice(
        [{"sku": "1", "source": "shop"}, {"sku": "77", "source": "shop"}, {"gtin": "4006381333932"}, {"mpn": "X1"}, {}]
    )
    return Twin("resolve_identifier", asked, f"/index/resolve?{urlencode(asked)}")


def light(tool: str, route: str) -> Callable[[random.Random], Twin]:
    def twin(chance: random.Random) -> Twin:
        one = iid(chance)
        query = chance.choice([{}, {}, {"from": "2026-07-02"}, {"from": "yesterday"}, {"channel": ["SOUTH", "NORTH"]}])
        text = urlencode(query, doseq=True)
        return Twin(tool, {"iid": one, **query}, f"/index/{route}/{quote(one) or '%20'}?{text}")

    return twin


def compared(chance: random.Random) -> Twin:
    chosen = [iid(chance) or "IID-" for _ in range(chance.randrange(2, 11))]
    return Twin("compare_items", {"iids": chosen}, f"/index/lookup?{urlencode({'iid': chosen}, doseq=True)}")


def counted(chance: random.Random) -> Twin:
    return Twin("how_am_i_counted", {}, "/quota")


def market(chance: random.Random) -> Twin:
    report, path = chance.choice(
        [
            ("cohorts", "/index/cohorts?brand=vita"),
            ("cohorts", "/index/cohorts?brand=vita&dry_run=true"),
            ("cohorts", "/index/cohorts?brand=unheard"),
            ("cohorts", "/index/cohorts?"),
            ("brand-insights", "/index/insights/brands/vita?"),
            ("brand-insights", "/index/insights/brands?"),
            ("sustainability-rollup", "/index/rollups/sustainability?brand=vita"),
        ]
    )
    asked = {"report": report}
    asked |= {"brand": ["unheard" if "unheard" in path else "vita"]} if "vita" in path or "unheard" in path else {}
    asked |= {"dry_run": True} if "dry_run" in path else {}
    return Twin("market_report", asked, path)


KINDS = (
    search,
    item,
    identifier,
    light("price_history", "pricing"),
    light("sustainability", "sustainability"),
    compared,
    counted,
    market,
)


def agree(result: dict[str, Any], rest: Answer) -> bool:
    """Whether a tool's result says what the REST call says: the same problem in the same words, or no problem.

    Only the parameter `q` is named as the tool's argument is, `query`.
    """
    if rest.status in (200, 202):
        return bool(result.get("resultType") == "task" if rest.status == 202 else not result["isError"])
    problem, same = (
        said(result),
        ("type", "status", "detail", "errors", "limit", "policy", "resets_at", "required_plan"),
    )
    of_rest = json.loads(rest.body.replace(b"`q`", b"`query`").replace(b'"parameter":"q"', b'"parameter":"query"'))
    return bool(result["isError"]) and [problem.get(name) for name in same] == [of_rest.get(name) for name in same]


@pytest.mark.parametrize("version", [STATELESS, HANDSHAKE])
async def test_random_calls_are_charged_and_refused_as_their_rest_calls(
    edge: Edge, settings: Settings, version: str
) -> None:
    chance = random.Random(version)
    of_tools, of_rest = api_key(settings), api_key(settings)
    # With the handshake there are no tasks: a report that no worker computes would be waited for.
    kinds = KINDS if version == STATELESS else KINDS[:-1]
    client = Mcp(edge, {"Authorization": f"ApiKey {of_tools}"}, version, tasks=version == STATELESS)
    refused = 0
    for _ in range(CALLS):
        twin = chance.choice(kinds)(chance)
        result = await client.call(twin.tool, twin.arguments)
        rest = await edge.get(twin.path, key=of_rest, head={"Prefer": "wait=0"}, check=False)
        assert agree(result, rest), (twin, result, rest)
        assert await edge.used(of_tools) == await edge.used(of_rest), twin
        refused += rest.status == 429
    assert await edge.used(of_tools) == DAILY_UNITS
    assert refused > CALLS / 20
