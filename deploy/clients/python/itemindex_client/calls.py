"""Every call as a flow: what is sent, what is waited for, what comes back. No I/O."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from itemindex_client.errors import JobFailed
from itemindex_client.flow import Flow, Wait, exchange
from itemindex_client.results import Report
from itemindex_client.schemas import Item, LookupEntry
from itemindex_client.settings import Credentials

_WAIT_SECONDS = 20
_ENDED = {"succeeded", "failed", "cancelled", "expired"}
REPORTS = {
    "cohorts": "/index/cohorts",
    "category_insights": "/index/insights/categories",
    "brand_insights": "/index/insights/brands",
    "price_index": "/index/prices/index",
    "reductions": "/index/insights/reductions",
    "sustainability_rollup": "/index/rollups/sustainability",
}
Progress = Callable[[float, str], object]
"""Called with the share that is done (0 to 1) and what is being done."""


@dataclass(frozen=True)
class Calls:
    """Makes the flows of one client. `max_wait` bounds how long one call waits for refusals to pass, in seconds."""

    credentials: Credentials
    max_wait: float

    def get(self, path: str, query: dict[str, Any] | None = None, *, key_needed: bool = False) -> Flow[Any]:
        """GET a JSON document. Raises ApiProblem, ConnectionFailed, KeyNeeded."""
        response = yield from exchange(self._request("GET", path, query, key_needed=key_needed), self.max_wait)
        return response.json()

    def post(self, path: str, body: Any, query: dict[str, Any] | None = None) -> Flow[Any]:
        """POST a JSON document under the key and return the answer's. Raises as `get`."""
        request = self._request("POST", path, query, key_needed=True, json=body)
        response = yield from exchange(request, self.max_wait)
        return response.json()

    def lookup(self, iid: str) -> Flow[Item]:
        """Return the record of an IID."""
        record: Item = yield from self.get(f"/index/lookup/{quote(iid, safe='')}")
        return record

    def lookup_many(self, iids: list[str]) -> Flow[list[LookupEntry]]:
        """Return an entry for each IID, in their order."""
        document = yield from self.post("/index/lookup", {"iids": iids})
        return list(document["data"])

    def resolve(self, **identifiers: str) -> Flow[Item]:
        """Return the record of an identifier (gtin, ean, upc, isbn, mpn with brand, sku with source, url)."""
        record: Item = yield from self.get("/index/resolve", identifiers)
        return record

    def page(self, path: str, query: dict[str, Any], *, key_needed: bool = False) -> Flow[dict[str, Any]]:
        """Return one page of a list with its `data` and `next_cursor`."""
        document = yield from self.get(path, query, key_needed=key_needed)
        return dict(document)

    def report(self, path: str, query: dict[str, Any], seconds: float, progress: Progress) -> Flow[Report]:
        """Order a report, follow its job to the end, and return its rows. Raises JobFailed, ApiProblem."""
        request = self._request("GET", path, query, key_needed=True)
        request.headers["Prefer"] = f"wait={_WAIT_SECONDS}"
        response = yield from exchange(request, self.max_wait)
        if response.status_code == 202:
            job = yield from self.finished("/jobs", response.json(), seconds, progress)
            response = yield from exchange(
                self._request("GET", f"/jobs/{job['id']}/result", key_needed=True), self.max_wait
            )
        progress(1.0, "done")
        return Report.of(response.json())

    def finished(self, path: str, job: dict[str, Any], seconds: float, progress: Progress) -> Flow[dict[str, Any]]:
        """Poll a job below its path until it has ended, at most so many seconds. Raises JobFailed, TimeoutError."""
        waited, pause = 0.0, 0.2
        while job["state"] not in _ENDED:
            if waited > seconds:
                raise TimeoutError(f"job {job['id']} is still {job['state']}; its result can be fetched later")
            progress(float(job["progress"]["fraction"]), str(job["progress"]["stage"]))
            yield Wait(pause)
            waited, pause = waited + pause, min(pause * 1.5, 5.0)
            job = yield from self.get(f"{path}/{job['id']}", key_needed=True)
        if job["state"] != "succeeded":
            raise JobFailed(job)
        return job

    def export(self, body: dict[str, Any], seconds: float, progress: Progress) -> Flow[dict[str, Any]]:
        """Order an export, follow it to the end, and return its manifest with signed addresses."""
        ordered = yield from self.post("/index/exports", body)
        export = yield from self.finished("/index/exports", ordered, seconds, progress)
        progress(1.0, "done")
        return export

    def _request(
        self, method: str, path: str, query: dict[str, Any] | None = None, *, key_needed: bool = False, json: Any = None
    ) -> httpx.Request:
        given = {name.rstrip("_"): value for name, value in (query or {}).items() if value is not None}
        headers = {"Accept": "application/json", **self.credentials.headers(key_needed=key_needed)}
        return httpx.Request(method, f"{self.credentials.url}{path}", params=given, headers=headers, json=json)
