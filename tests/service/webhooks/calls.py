"""Making webhooks, logging events, and reading what receivers were sent."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from shared.settings.settings import Settings
from tests.support.client import Answer, Edge
from tests.support.database import execute
from workers.events.webhooks import deliver


def happen(settings: Settings, key: str, first: int, last: int) -> None:
    """Log numbered events, each in a transaction of its own."""
    for n in range(first, last + 1):
        execute(
            settings,
            "INSERT INTO event_log (organization_id, type, data) "
            "SELECT organization_id, 'key.rotated', jsonb_build_object('n', $2::integer) FROM api_keys WHERE key_id = $1",
            key[10:20],
            n,
        )


def hurry(settings: Settings) -> None:
    """Let the pauses after failures be over."""
    execute(settings, "UPDATE webhook_endpoints SET due_at = now()")


async def hook(edge: Edge, key: str, url: str, **more: Any) -> dict[str, Any]:
    """Make a webhook; return its document."""
    made = await edge.ask("POST", "/webhooks", key=key, body=json.dumps({"url": url, **more}).encode())
    assert made.status == 201, made
    return dict(made.json)


async def send(settings: Settings, seconds: float = 30, **options: Any) -> int:
    """Deliver what is due, as a worker does; return how many events were accepted."""
    return await asyncio.to_thread(lambda: deliver(settings, seconds, **options))


def numbers(arrived: list[tuple[dict[str, str], bytes]]) -> list[int]:
    """The numbers of the events that arrived."""
    return [json.loads(body)["data"]["n"] for _, body in arrived]


def verifies(call: tuple[dict[str, str], bytes], secret: str) -> bool:
    """Whether the library of Standard Webhooks takes a delivery as signed by this secret."""
    head, body = call
    try:
        Webhook(secret).verify(body, head)
    except WebhookVerificationError:
        return False
    return True


def signatures_hold(call: tuple[dict[str, str], bytes], *secrets: str) -> bool:
    """Verify by the library with each secret, and that there is no signature besides, by the specification's text."""
    head, body = call
    assert all(verifies(call, secret) for secret in secrets)
    assert abs(int(head["webhook-timestamp"]) - time.time()) < 60
    signed = f"{head['webhook-id']}.{head['webhook-timestamp']}.{body.decode()}".encode()
    expected = [
        "v1," + base64.b64encode(hmac.new(base64.b64decode(s[6:]), signed, hashlib.sha256).digest()).decode()
        for s in secrets
    ]
    return sorted(head["webhook-signature"].split(" ")) == sorted(expected)


async def attempts(edge: Edge, key: str, made: dict[str, Any]) -> list[dict[str, Any]]:
    """The attempts of a webhook, newest first."""
    answer = await edge.get(f"/webhooks/{made['id']}/attempts", key=key)
    return list(answer.json["data"])


async def call(edge: Edge, key: str, method: str, path: str, body: Any = None, name: str = "once") -> Answer:
    content = None if body is None else json.dumps(body).encode()
    return await edge.ask(method, path, key=key, body=content, head={"Idempotency-Key": name})
