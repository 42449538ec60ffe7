"""An export as the contract shows it (section 6)."""

import json
from datetime import UTC, datetime

import msgspec

from edge.bulk.signed_urls import SignedUrls
from edge.jobs.orders import Order
from edge.jobs.serializer import JobSerializer
from shared.clock import rfc3339, utc_now
from shared.printable import FORMULA_PREFIX


class ExportSerializer:
    """Renders documents with this service's addresses."""

    def __init__(self, base_url: str, jobs: JobSerializer, links: SignedUrls, link_seconds: int) -> None:
        self._base_url = base_url
        self._jobs = jobs
        self._links = links
        self._link_seconds = link_seconds

    def url(self, order_id: str) -> str:
        """Return an export's address."""
        return f"{self._base_url}/index/exports/{order_id}"

    def list_entry(self, order: "Order") -> dict[str, object]:
        """Return an export as lists show it."""
        return {**self._jobs.render(order), "request": json.loads(order.row["parameters"])}

    def render(self, order: "Order", organization: str | None) -> dict[str, object]:
        """Return an export with its files, where it has any; their signed addresses are this organization's alone."""
        return {**self.list_entry(order), "manifest": self._manifest(order, organization or "")}

    def _manifest(self, order: "Order", organization: str) -> dict[str, object] | None:
        manifest = order.export
        if manifest is None:
            return None
        expires_at = order.row["expires_at"]
        assert expires_at is not None  # written with the manifest
        until = min(int(utc_now().timestamp()) + self._link_seconds, int(expires_at.timestamp()))
        document = msgspec.to_builtins(manifest)
        if manifest.all_months is None:
            document["all_months"] = not manifest.months
        document["formula_prefix"] = FORMULA_PREFIX if manifest.format == "csv" else None
        for file in document["files"]:
            del file["key"]  # the storage key is internal
            query = self._links.query(signed_text(order.id, file["name"]), organization, until)
            file["url"] = f"{self.url(order.id)}/files/{file['name']}"
            file["signed_url"] = f"{self.url(order.id)}/signed/{file['name']}?{query}"
        ends = rfc3339(datetime.fromtimestamp(until, UTC))
        return {**document, "signed_until": ends, "expires_at": rfc3339(expires_at)}


def signed_text(order_id: str, name: str) -> str:
    """Return what a link to a file is signed over."""
    return f"export {order_id}/{name}"
