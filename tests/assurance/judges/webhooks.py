"""The judge of webhooks: the npm package of Standard Webhooks verifies what we sign. Tests ask the one of PyPI."""

import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from shared.events.webhooks import key_of, new_secret, signature_headers
from tests.assurance.judges import reports
from tests.assurance.judges.findings import Finding
from tests.assurance.judges.programs import ENVIRONMENT, installed, node, run

_CALLER = Path(__file__).parent / "callers" / "webhooks.mjs"
_ID = "5122"
_BODY = '{"id":"5122","type":"watch.fired","data":{"name":"Crème brûlée","price":"2.10"}}'
# The protocol's libraries refuse what is five minutes old.
_TOO_OLD_SECONDS = 301


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice as a receiver has it, with the secret that the receiver keeps."""

    secret: str
    headers: dict[str, str]
    body: str = _BODY


def standardwebhooks(scratch: Path) -> list[Finding]:
    """Let the package verify notices that it must accept and some that it must refuse. Raises NotInstalled."""
    installed(ENVIRONMENT / "node_modules" / "standardwebhooks" / "package.json")
    caller = ENVIRONMENT / _CALLER.name  # beside node_modules, where the package is found
    shutil.copy(_CALLER, caller)
    accepted, refused = notices(int(time.time()))
    sent = scratch / "notices.json"
    sent.write_text(json.dumps({name: asdict(one) for name, one in {**accepted, **refused}.items()}))
    verdicts = json.loads(run([node(), str(caller), str(sent)]))
    return reports.standardwebhooks(verdicts, set(accepted), set(refused))


def notices(now: int) -> tuple[dict[str, Notice], dict[str, Notice]]:
    """Return notices that a receiver must accept, and those that it must refuse, by what they are."""
    former, current = new_secret(), new_secret()
    alone = _signed([current], now)
    rotating = _signed([current, former], now)
    accepted = {
        "one secret": Notice(current, alone),
        "rotation, current secret": Notice(current, rotating),
        "rotation, former secret": Notice(former, rotating),
    }
    refused = {
        "former secret after its rotation": Notice(former, alone),
        "another body": Notice(current, alone, _BODY.replace("2.10", "0.10")),
        "another id": Notice(current, {**alone, "webhook-id": "5123"}),
        "another time": Notice(current, {**alone, "webhook-timestamp": str(now - 1)}),
        "too old": Notice(current, _signed([current], now - _TOO_OLD_SECONDS)),
    }
    return accepted, refused


def _signed(secrets: list[str], at: int) -> dict[str, str]:
    return signature_headers([key_of(secret) for secret in secrets], _ID, at, _BODY.encode())
