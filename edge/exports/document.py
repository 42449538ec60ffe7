"""An export as the contract shows it (section 6). Pure."""

import json
from typing import Any

import msgspec

from edge.jobs.document import JobDocuments
from edge.jobs.orders import Order
from shared.clock import rfc3339


class ExportDocuments:
    """Makes documents with this service's addresses."""

    def __init__(self, base_url: str, jobs: JobDocuments) -> None:
        self._base_url = base_url
        self._jobs = jobs

    def url(self, order_id: str) -> str:
        """Return an export's address."""
        return f"{self._base_url}/index/exports/{order_id}"

    def listed(self, order: Order) -> dict[str, Any]:
        """Return an export as lists show it."""
        return {**self._jobs.make(order), "request": json.loads(order.row["parameters"])}

    def make(self, order: Order) -> dict[str, Any]:
        """Return an export with its files, where it has any."""
        return {**self.listed(order), "manifest": self._manifest(order)}

    def _manifest(self, order: Order) -> dict[str, Any] | None:
        manifest = order.export
        if manifest is None:
            return None
        document: dict[str, Any] = msgspec.to_builtins(manifest)
        for file in document["files"]:
            del file["key"]  # where it lies is our affair
            file["url"] = f"{self.url(order.id)}/files/{file['name']}"
        return {**document, "expires_at": rfc3339(order.row["expires_at"])}
