"""The peer: FastAPI on uvicorn with redis.asyncio and asyncpg, as their own documentation would write it.

The same job: token check, exact daily and per-second quota by address in one script, record from the store, limit
headers, request id, an access line.
"""

import logging
import os
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import redis.asyncio as redis
from fastapi import FastAPI, Header, HTTPException, Request, Response

TAKE = Path(os.environ["PEER_TAKE"]).read_text()
TOKEN = os.environ["PEER_TOKEN"]
DAILY = int(os.environ["PEER_DAILY"])
PAGE = "SELECT id, name, slug, item_count FROM brands WHERE item_count > 0 ORDER BY folded_name, id LIMIT $1"
TOTAL = "SELECT count(*) FROM brands WHERE item_count > 0"
store = redis.from_url(os.environ["PEER_STATE"])
take = store.register_script(TAKE)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Hold a pool of connections to PostgreSQL."""
    async with asyncpg.create_pool(os.environ["PEER_DATABASE"], min_size=2, max_size=8) as app.state.pool:
        yield


app = FastAPI(lifespan=lifespan)
log = logging.getLogger("access")
log.addHandler(logging.FileHandler(os.environ["PEER_LOG"]))
log.setLevel(logging.INFO)


async def charge(request: Request, token: str) -> dict[str, str]:
    """Charge one unit and return the limit headers. Raises 401 and 429."""
    if token != TOKEN:
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
    return fields


@app.get("/v1/index/lookup/{iid}")
async def lookup(iid: str, request: Request, x_service_public_token: str = Header()) -> Response:
    """Answer one look-up."""
    started = time.perf_counter()
    fields = await charge(request, x_service_public_token)
    body = await store.get(f"r:peer:{iid}")
    if body is None:
        raise HTTPException(404)
    log.info('{"path":"%s","status":200,"us":%d}', request.url.path, (time.perf_counter() - started) * 1e6)
    return Response(body, media_type="application/json", headers={**fields, "Cache-Control": "private, max-age=60"})


@app.get("/v1/index/brands")
async def brands(
    request: Request, response: Response, limit: int = 100, x_service_public_token: str = Header()
) -> dict[str, Any]:
    """Answer with the first page of brands."""
    started = time.perf_counter()
    response.headers.update(await charge(request, x_service_public_token))
    rows = await request.app.state.pool.fetch(PAGE, limit)
    total = await request.app.state.pool.fetchval(TOTAL)
    log.info('{"path":"%s","status":200,"us":%d}', request.url.path, (time.perf_counter() - started) * 1e6)
    return {"data": [dict(row) for row in rows], "count": len(rows), "total": {"value": total, "relation": "eq"}}
