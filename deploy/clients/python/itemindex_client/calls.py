"""Every call as a flow: what is sent, what is waited for, what comes back. No I/O."""

import difflib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from itemindex_client import schemas
from itemindex_client.errors import ConnectionFailed, JobFailed, UnknownArgument
from itemindex_client.flow import Flow, Wait, exchange
from itemindex_client.results import Report, Row
from itemindex_client.settings import Credentials

_WAIT_SECONDS = 20
_ENDED = {"succeeded", "failed", "cancelled", "expired"}
Progress = Callable[[float, str], object]
"""Called with the share that is done (0 to 1) and what is being done."""


def silent(fraction: float, stage: str) -> None:
    """Show no progress."""


def known(query: Mapping[str, Any], declared: type) -> dict[str, Any]:
    """Return a query whose arguments are those of its type. Raises UnknownArgument, before anything is sent."""
    names = [name.rstrip("_") for name in declared.__annotations__]
    for name in query:
        if name.rstrip("_") not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
            raise UnknownArgument(f"there is no argument `{name}`; {hint}")
    return dict(query)


@dataclass(frozen=True)
class Calls:
    """Makes the flows of one client. `max_wait` bounds how long one call waits for refusals to pass, in seconds."""

    credentials: Credentials
    max_wait: float

    def get(self, path: str, query: dict[str, Any] | None = None, *, key_needed: bool = False) -> Flow[Any]:
        """GET a JSON document. Raises ApiProblem, ConnectionFailed, KeyNeeded."""
        response = yield from exchange(self._request("GET", path, query, key_needed=key_needed), self.max_wait)
        return _document(response)

    def post(self, path: str, body: Any) -> Flow[Any]:
        """POST a JSON document under the key and return the answer's. Raises as `get`."""
        request = self._request("POST", path, key_needed=True, json=body)
        response = yield from exchange(request, self.max_wait)
        return _document(response)

    def lookup(self, iid: str) -> Flow[schemas.Item]:
        """Return the record of an IID."""
        return self.get(f"/index/lookup/{quote(iid, safe='')}")

    def lookup_many(self, iids: list[str]) -> Flow[list[schemas.LookupEntry]]:
        """Return an entry for each IID, in their order."""
        document = yield from self.post("/index/lookup", {"iids": iids})
        return list(document["data"])

    def resolve(self, identifiers: Mapping[str, Any]) -> Flow[schemas.Item]:
        """Return the record of an identifier."""
        return self.get("/index/resolve", known(identifiers, schemas.ResolveIdentifierQuery))

    def resolve_many(self, identifiers: list[schemas.IdentifierFields]) -> Flow[list[schemas.ResolveEntry]]:
        """Return an entry for each identifier, in their order."""
        document = yield from self.post("/index/resolve", {"identifiers": identifiers})
        return list(document["data"])

    def prices(self, iid: str, query: Mapping[str, Any]) -> Flow[Report[schemas.PricingRow]]:
        """Return the price history of an item."""
        return self._of_item("/index/pricing/{}", iid, known(query, schemas.GetPricingQuery), schemas.PricingRow)

    def prior_price(self, iid: str, query: Mapping[str, Any]) -> Flow[Report[schemas.PriorPriceRow]]:
        """Return each channel's running reduction."""
        return self._of_item(
            "/index/pricing/{}/reference", iid, known(query, schemas.GetPriorPriceQuery), schemas.PriorPriceRow
        )

    def sustainability(self, iid: str, query: Mapping[str, Any]) -> Flow[Report[schemas.SustainabilityRow]]:
        """Return the footprint of an item."""
        return self._of_item(
            "/index/sustainability/{}", iid, known(query, schemas.GetSustainabilityQuery), schemas.SustainabilityRow
        )

    def _of_item(self, path: str, iid: str, query: dict[str, Any], row: type[Row]) -> Flow[Report[Row]]:
        document = yield from self.get(path.format(quote(iid, safe="")), query, key_needed=True)
        return Report(list(document["data"]), dict(document["meta"]), row)

    def quote(self, path: str, query: dict[str, Any]) -> Flow[schemas.Quote]:
        """Return what a report would cost."""
        return self.get(path, {**query, "dry_run": "true"}, key_needed=True)

    def release_keys(self) -> Flow[Mapping[str, Any]]:
        """Return the public keys that signatures of manifests are checked with; they stand at the root of the host."""
        url = httpx.URL(self.credentials.url).join("/.well-known/release-keys.json")
        response = yield from exchange(httpx.Request("GET", url), self.max_wait)
        keys: Mapping[str, Any] = _document(response)
        return keys

    def release(self, dataset: str, version: str | int) -> Flow[schemas.ReleaseManifest]:
        """Return the manifest of a release."""
        path = f"/index/datasets/{quote(dataset, safe='')}/releases/{quote(str(version), safe='')}"
        return self.get(path, key_needed=True)

    def report(
        self, path: str, query: dict[str, Any], row: type[Row], seconds: float, progress: Progress
    ) -> Flow[Report[Row]]:
        """Order a report, follow its job to the end, and return its rows. Raises JobFailed, ApiProblem."""
        request = self._request("GET", path, query, key_needed=True)
        request.headers["Prefer"] = f"wait={_WAIT_SECONDS}"
        response = yield from exchange(request, self.max_wait)
        if response.status_code == 202:
            job = yield from self.finished("/jobs", _document(response), seconds, progress)
            response = yield from exchange(
                self._request("GET", f"/jobs/{job['id']}/result", key_needed=True), self.max_wait
            )
        progress(1.0, "done")
        document = _document(response)
        return Report(list(document["data"]), dict(document["meta"]), row)

    def finished(self, path: str, job: dict[str, Any], seconds: float, progress: Progress) -> Flow[Any]:
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

    def export(self, order: Mapping[str, Any], seconds: float, progress: Progress) -> Flow[schemas.Export]:
        """Order an export, follow it to the end, and return its manifest with signed addresses."""
        # The same order under the same name is the same export: it may be sent again after a lost connection.
        request = self._request("POST", "/index/exports", key_needed=True, json=known(order, schemas.NewExport))
        request.headers["Idempotency-Key"] = str(uuid.uuid4())
        ordered = _document((yield from exchange(request, self.max_wait)))
        export: schemas.Export = yield from self.finished("/index/exports", ordered, seconds, progress)
        progress(1.0, "done")
        return export

    def _request(
        self, method: str, path: str, query: dict[str, Any] | None = None, *, key_needed: bool = False, json: Any = None
    ) -> httpx.Request:
        given = {name.rstrip("_"): value for name, value in (query or {}).items() if value is not None}
        headers = {"Accept": "application/json", **self.credentials.headers(key_needed=key_needed)}
        return httpx.Request(method, f"{self.credentials.url}{path}", params=given, headers=headers, json=json)


def _document(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise ConnectionFailed(f"{response.url} answered with something other than JSON: is it the API's?") from None
