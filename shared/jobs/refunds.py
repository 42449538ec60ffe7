"""The refund of an order as both tiers ask the state store for it. Pure."""

from pathlib import Path
from typing import Literal

from shared.redis import keys

SCRIPT = Path(__file__).with_name("refund.lua").read_text(encoding="utf-8")
# The counters of a day live 26 hours; a marker must outlive them, or a late second asking would be paid.
_MARKER_SECONDS = 2 * 86_400


Refunder = Literal["edge", "dispatcher"]


def call(
    account: str, charge_id: str, day: int, units: int, refunder: Refunder
) -> tuple[str, int, str, str, str, int, int, str]:
    """Return the arguments of EVAL that give a charge back, once, however often and by whichever tier they are sent."""
    names = (
        keys.quota(account, day),
        keys.refund_marker(account, charge_id),
        keys.charge_marker(account, charge_id),
    )
    return (SCRIPT, len(names), *names, units, _MARKER_SECONDS, refunder)
