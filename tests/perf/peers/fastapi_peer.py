"""The peer: FastAPI on uvicorn with redis.asyncio, as its own documentation would write it.

The same job: token check, exact daily and per-second quota by address in one script, record from the store, limit
headers, request id, an access line.
"""

import logging
import os
import time
import uuid
from pathlib import Path

import redis.asyncio as redis
from fastapi import FastAPI, Header, HTTPException, Request, Response

TAKE = Path(os.environ["PEER_TAKE"]).read_text()
TOKEN = os.environ["PEER_TOKEN"]
DAILY = int(os.environ["PEER_DAILY"])
store = redis.from_url(os.environ["PEER_STATE"])
take = store.register_script(TAKE)
app = FastAPI()
log = logging.getLogger("access")
log.addHandler(logging.FileHandler(os.environ["PEER_LOG"]))
log.setLevel(logging.INFO)


@app.get("/v1/index/lookup/{iid}")
async def lookup(iid: str, request: Request, x_service_public_token: str = Header()) -> Response:
    """Answer one look-up."""
    started = time.perf_counter()
    if x_service_public_token != TOKEN:
        raise HTTPException(401)
    address = request.headers["x-real-ip"]
    request_id = request.headers.get("x-request-id") or uuid.uuid4().hex
    keys = [f"q:{{ip:{address}}}:", f"c:{{ip:{address}}}:{request.headers['x-charge-id']}"]
    outcome, used, burst, _, left = await take(keys=keys, args=[1, DAILY, 10**9, 20])
    fields = {
        "RateLimit-Policy": f'"free-daily";q={DAILY};w=86400, "free-burst";q=1000000000;w=1',
        "RateLimit": f'"free-daily";r={max(0, DAILY - used)};t={left}, "free-burst";r={10**9 - burst};t=1',
        "X-Request-Id": request_id,
    }
    if outcome <= 0:
        raise HTTPException(429, "Daily limit reached", headers={**fields, "Retry-After": str(left)})
    body = await store.get(f"r:peer:{iid}")
    if body is None:
        raise HTTPException(404)
    log.info('{"path":"%s","status":200,"us":%d}', request.url.path, (time.perf_counter() - started) * 1e6)
    return Response(body, media_type="application/json", headers={**fields, "Cache-Control": "private, max-age=60"})
