"""The documents of jobs (contract, section 5)."""

import hashlib
from datetime import datetime

import msgspec

from edge.http.catalogue import CATALOGUE, reason_phrase
from edge.jobs.orders import Order
from shared.clock import rfc3339
from shared.telemetry import metrics

_UNREADABLE = "result"


class JobSerializer:
    """Renders documents with this service's addresses."""

    def __init__(self, base_url: str, problem_base_url: str) -> None:
        self.base_url = base_url
        self._errors_base = problem_base_url
        metrics.begin_at_zero(metrics.rows_set_aside, [_UNREADABLE])

    def url(self, order_id: str) -> str:
        """Return a job's address."""
        return f"{self.base_url}/jobs/{order_id}"

    def render(self, order: Order) -> dict[str, object]:
        """Return the document of an order."""
        row, url = order.row, self.url(order.id)
        return {
            "id": order.id,
            "kind": row["kind"],
            "state": order.state,
            "progress": {
                "fraction": round(row["progress_fraction"], 4),
                "stage": row["progress_stage"],
                "rows_done": row["rows_done"],
                "rows_total": row["rows_total"],
            },
            "attempt": row["attempt"],
            "data_version": row["data_version"],
            "cost_units": row["cost_units"],
            "created_at": rfc3339(row["created_at"]),
            "started_at": _moment(row["started_at"]),
            "finished_at": _moment(row["finished_at"]),
            "expires_at": _moment(row["expires_at"]),
            "result": self._readable_result(order, url),
            "error": self._error(order),
            "links": {"self": url, "result": f"{url}/result", "events": f"{url}/events"},
        }

    def _readable_result(self, order: Order, url: str) -> dict[str, object] | None:
        """Return what describes the result; None where its row cannot be read, which must not fail a whole list."""
        try:
            return self._result(order, url)
        except msgspec.ValidationError:
            metrics.rows_set_aside.labels(_UNREADABLE).inc()
            return None

    def _result(self, order: Order, url: str) -> dict[str, object] | None:
        manifest, export = order.manifest, order.export
        if export is not None:
            # Of many files, the digest is that of the list which `sha256sum` would write of them.
            lines = "".join(f"{file.sha256}  {file.name}\n" for file in export.files)
            return {
                "url": f"{url}/result",
                "media_type": "application/json",
                "rows": export.rows,
                "bytes": export.bytes,
                "sha256": hashlib.sha256(lines.encode()).hexdigest(),
            }
        if manifest is None:
            return None
        return {
            "url": f"{url}/result",
            "media_type": manifest.media_type,
            "rows": manifest.rows,
            "bytes": manifest.bytes,
            "sha256": manifest.sha256,
        }

    def _error(self, order: Order) -> dict[str, object] | None:
        failed = failure(order)
        if failed is None:
            return None
        slug, detail = failed
        status = CATALOGUE[slug].status
        return {
            "type": f"{self._errors_base}/{slug}",
            "title": reason_phrase(status),
            "status": status,
            "detail": detail,
            "instance": f"urn:uuid:{order.id}",
        }


def failure(order: Order) -> tuple[str, str] | None:
    """Return slug and sentence of why an order has no result and never will; None where it has or may have one."""
    if order.state == "cancelled":
        return "job-cancelled", "The job was cancelled; nothing was charged."
    if order.state != "failed":
        return None
    error: dict[str, object] = msgspec.json.decode(order.row["error"] or "{}", type=dict)
    slug = error.get("slug", "job-failed")
    known = slug if slug in CATALOGUE else "job-failed"
    return known, str(error.get("detail") or CATALOGUE[known].meaning)


def _moment(moment: datetime | None) -> str | None:
    return rfc3339(moment) if moment is not None else None
