"""The kinds of calls that `make bench` compares: how each is asked, of which server, and with which status it ends."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from shared.ids import mint

IID = mint("shop", "1").iid
LOOKUP = f"/v1/index/lookup/{IID}"
OURS, FASTAPI, LUA = "Item Index edge", "FastAPI, uvicorn, redis.asyncio", "nginx + Lua gateway"
PEERS = (FASTAPI, LUA)
_TRACE = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n"


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of call. The first time of each is not measured: it is a question asked before."""

    name: str
    target: str = LOOKUP
    fields: str = "Accept: */*\r\n"
    status: int = 200
    paid: bool = False
    peers: tuple[str, ...] = ()


CALLS = (
    Call("look-up", peers=PEERS),
    Call("look-up, a program's headers", fields=f"Accept: application/json, text/plain, */*\r\n{_TRACE}", peers=PEERS),
    Call("look-up in lower case", LOOKUP.replace(IID, IID.lower())),
    Call("look-up, 304", fields="Accept: */*\r\nIf-None-Match: *\r\n", status=304),
    Call("refusal", status=429, peers=PEERS),
    Call("brands", "/v1/index/brands?limit=20", peers=(FASTAPI,)),
    Call("categories", "/v1/index/categories"),
    Call("search", "/v1/index/search?q=soy+milk"),
    Call("resolve", "/v1/index/resolve?sku=1&source=shop"),
    Call("prices of an item", f"/v1/index/pricing/{IID}", paid=True),
    Call("sustainability of an item", f"/v1/index/sustainability/{IID}", paid=True),
)


def request(call: Call, address: str, credential: str) -> Callable[[int], bytes]:
    """Return what makes the n-th request of a caller, as nginx would forward it."""
    before = f"GET {call.target} HTTP/1.1\r\nHost: api.example\r\nX-Real-IP: {address}\r\n"
    after = f"{credential}\r\n{call.fields}\r\n"
    ids = "X-Request-Id: %032x\r\nX-Charge-Id: %032x\r\nX-Began: %.3f\r\n"
    return lambda n: (before + ids % (n, n, time.time()) + after).encode()
