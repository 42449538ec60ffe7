"""An export as the contract shows it (section 6). Pure."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from edge.http.signed_urls import SignedUrls
from edge.jobs.serializers import JobSerializer
from shared.clock import Clock, rfc3339, utc_now
from shared.exports.contract import FORMULA_PREFIX

if TYPE_CHECKING:
    from edge.jobs.service import Order


class ExportSerializer:
    """Renders documents with this service's addresses."""

    def __init__(
        self, base_url: str, jobs: JobSerializer, links: SignedUrls, link_seconds: int, clock: Clock = utc_now
    ) -> None:
        self._base_url = base_url
        self._jobs = jobs
        self._links = links
        self._link_seconds = link_seconds
        self._clock = clock

    def now(self) -> int:
        """Return the present second since 1970."""
        return int(self._clock().timestamp())

    def url(self, order_id: str) -> str:
        """Return an export's address."""
        return f"{self._base_url}/index/exports/{order_id}"

    def listed(self, order: "Order") -> dict[str, Any]:
        """Return an export as lists show it."""
        return {**self._jobs.render(order), "request": json.loads(order.row["parameters"])}

    def render(self, order: "Order", organization: str | None) -> dict[str, Any]:
        """Return an export with its files, where it has any; their signed addresses are this organization's alone."""
        return {**self.listed(order), "manifest": self._manifest(order, organization or "")}

    def _manifest(self, order: "Order", organization: str) -> dict[str, Any] | None:
        manifest = order.export
        if manifest is None:
            return None
        until = min(self.now() + self._link_seconds, int(order.row["expires_at"].timestamp()))
        document: dict[str, Any] = msgspec.to_builtins(manifest)
        if manifest.all_months is None:
            document["all_months"] = not manifest.months
        document["formula_prefix"] = FORMULA_PREFIX if manifest.format == "csv" else None
        for file in document["files"]:
            del file["key"]  # the storage key is internal
            query = self._links.query(signed_of(order.id, file["name"]), organization, until)
            file["url"] = f"{self.url(order.id)}/files/{file['name']}"
            file["signed_url"] = f"{self.url(order.id)}/signed/{file['name']}?{query}"
        ends = rfc3339(datetime.fromtimestamp(until, UTC))
        return {**document, "signed_until": ends, "expires_at": rfc3339(order.row["expires_at"])}


def signed_of(order_id: str, name: str) -> str:
    """Return what a link to a file is signed over."""
    return f"export {order_id}/{name}"
