"""The peer: FastAPI on uvicorn with redis.asyncio and asyncpg, as their own documentation would write it.

The same job: token check, exact daily and per-second quota by address in one script, records and answers from the store,
what it lacks from PostgreSQL, limit headers, request id, an access line.
"""

import json
import logging
import os
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import redis.asyncio as redis
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request, Response

from edge.analytics.price_history import SQL as PRICING
from edge.index.record import SQL as RECORD
from shared.prior_price import HISTORY_DAYS

TAKE = Path(os.environ["PEER_TAKE"]).read_text()
TOKEN = os.environ["PEER_TOKEN"]
DAILY = int(os.environ["PEER_DAILY"])
PAGE = (
    "SELECT id, name, slug, item_count FROM brands WHERE item_count > 0 AND folded_name LIKE $2 || '%'"
    " ORDER BY folded_name, id LIMIT $1"
)
KEPT_SECONDS = 3600
store = redis.from_url(os.environ["PEER_STATE"])
take = store.register_script(TAKE)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Hold a pool of connections to PostgreSQL."""
    async with asyncpg.create_pool(os.environ["PEER_DATABASE"], min_size=2, max_size=8) as app.state.pool:
        yield


app = FastAPI(lifespan=lifespan, openapi_url="/v1/openapi.json")
log = logging.getLogger("access")
log.addHandler(logging.FileHandler(os.environ["PEER_LOG"]))
log.setLevel(logging.INFO)


async def charge(
    request: Request, response: Response, x_service_public_token: Annotated[str, Header()]
) -> AsyncIterator[dict[str, str]]:
    """Charge one unit, give the limit headers, and write the access line. Raises 401 and 429."""
    started = time.perf_counter()
    if x_service_public_token != TOKEN:
        raise HTTPException(401)
    address = request.headers["x-real-ip"]
    keys = [f"q:{{ip:{address}}}:", f"c:{{ip:{address}}}:{request.headers['x-charge-id']}"]
    outcome, used, burst, _, left = await take(keys=keys, args=[1, DAILY, 10**9, 20])
    fields = {
        "RateLimit-Policy": f'"free-daily";q={DAILY};w=86400, "free-burst";q=1000000000;w=1',
        "RateLimit": f'"free-daily";r={max(0, DAILY - used)};t={left}, "free-burst";r={10**9 - burst};t=1',
        "X-Request-Id": request.headers.get("x-request-id") or uuid.uuid4().hex,
    }
    if outcome <= 0:
        raise HTTPException(429, "Daily limit reached", headers={**fields, "Retry-After": str(left)})
    yield {**fields, "Cache-Control": "private, max-age=60"}
    log.info('{"path":"%s","status":200,"us":%d}', request.url.path, (time.perf_counter() - started) * 1e6)


Charged = Annotated[dict[str, str], Depends(charge)]


async def kept(key: str, make: Callable[[], Awaitable[Any]]) -> bytes:
    """Return what the store has, else what `make` reads from PostgreSQL, which is then kept. Raises 404."""
    body: Any = await store.get(key)
    if body is None:
        found = await make()
        if found is None:
            raise HTTPException(404)
        body = json.dumps(found, default=str).encode()
        await store.set(key, body, ex=KEPT_SECONDS)
    return body


def answer(request: Request, body: bytes, fields: dict[str, str]) -> Response:
    """Return a document, or 304 where the caller has it."""
    if request.headers.get("if-none-match") == "*":
        return Response(status_code=304, headers=fields)
    return Response(body, media_type="application/json", headers=fields)


@app.get("/v1/index/lookup/{iid}")
async def lookup(iid: str, request: Request, fields: Charged) -> Response:
    """Answer one lookup."""

    async def make() -> Any:
        row = await request.app.state.pool.fetchrow(RECORD.records, [iid])
        return dict(row) if row is not None else None

    return answer(request, await kept(f"r:peer:{iid}", make), fields)


@app.get("/v1/index/lookup")
async def batch(iid: Annotated[list[str], Query()], fields: Charged) -> Response:
    """Answer many lookups."""
    bodies = await store.mget([f"r:peer:{one}" for one in iid])
    entries = [{"iid": one, "record": body and json.loads(body)} for one, body in zip(iid, bodies, strict=True)]
    return Response(json.dumps({"data": entries}), media_type="application/json", headers=fields)


@app.get("/v1/index/brands")
async def brands(request: Request, fields: Charged, limit: int = 100, q: str = "") -> Response:
    """Answer with the first page of brands."""

    async def make() -> Any:
        return {"data": [dict(row) for row in await request.app.state.pool.fetch(PAGE, limit, q)]}

    return answer(request, await kept(f"a:peer:{request.url.path}?{request.url.query}", make), fields)


@app.get("/v1/index/pricing/{iid}")
async def pricing(iid: str, request: Request, fields: Charged) -> Response:
    """Answer with the prices of an item."""

    async def make() -> Any:
        row = await request.app.state.pool.fetchrow(PRICING.prices, iid, None, None, [], None, None, HISTORY_DAYS)
        return {"data": json.loads(row["prices"] or "[]"), "to": row["last_day"]}

    return answer(request, await kept(f"a:peer:{request.url.path}", make), fields)


@app.get("/v1/index/{rest:path}")
async def asked_before(request: Request, fields: Charged) -> Response:
    """Answer a question whose answer the store has."""

    async def nothing() -> None:
        return None

    query = f"?{request.url.query}" if request.url.query else ""
    return answer(request, await kept(f"a:peer:{request.url.path}{query}", nothing), fields)
