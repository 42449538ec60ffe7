"""What an operator must be able to notice of a fault: what readiness says is wrong, and the counter of an alert."""

import json
import re
import time
import urllib.request
from collections.abc import Callable

from deploy.local.stack import Stack
from tests.assurance.drills.faults import Fault
from tests.assurance.drills.probes import Front, Seen

_NOTICE_SECONDS_MAX = 10.0
_LOOK_SECONDS = 0.2
_EMPTIED = re.compile(r'^itemindex_store_emptied_total\{store="state"\} (\S+)$', re.MULTILINE)


class Notice:
    """Made before a fault begins, and asked while it lasts; of most faults there is nothing that it looks for."""

    def __init__(self, fault: Fault, front: Front, stack: Stack) -> None:
        self._fault = fault
        self._front = front
        self._stack = stack
        self._losses = self._losses_counted() if fault.mode == "emptied" else None

    def seen(self) -> list[Seen]:
        """Return what was noticed, within 10 s; nothing for a fault that only callers notice."""
        if self._fault.clock_is_off:
            return [self._until(self._readiness_names_the_clock, "/v1/ready says that a clock is off")]
        if self._fault.mode == "emptied":
            return [self._until(self._loss_is_counted_and_logged, "the loss is counted and logged")]
        return []

    def _until(self, noticed: Callable[[], bool], what: str) -> Seen:
        ends = time.monotonic() + _NOTICE_SECONDS_MAX
        while not (found := noticed()) and time.monotonic() < ends:
            time.sleep(_LOOK_SECONDS)
        return Seen(self._fault.name, "notice", kept=found, remark=what if found else f"not noticed: {what}")

    def _readiness_names_the_clock(self) -> bool:
        status, body = self._front.ask("GET", "/v1/ready", {})
        if status != 200:
            return False
        document = json.loads(body)
        states = {part["name"]: part["state"] for part in document["parts"]}
        return bool(document["status"] == "degraded" and states["clock"] == "off")

    def _loss_is_counted_and_logged(self) -> bool:
        before, now = self._losses, self._losses_counted()
        logs = (self._stack.paths.log(name).read_text(errors="replace") for name in ("edge-a", "edge-b"))
        return before is not None and now is not None and now > before and any("store-emptied" in log for log in logs)

    def _losses_counted(self) -> float | None:
        """Return the counter of the alert StoreEmptied; None where it is not there, and the alert could not fire."""
        address = f"http://127.0.0.1:{self._stack.metrics_port}/metrics"
        with urllib.request.urlopen(address, timeout=_NOTICE_SECONDS_MAX) as answer:
            found = _EMPTIED.search(answer.read().decode())
        return float(found[1]) if found else None
