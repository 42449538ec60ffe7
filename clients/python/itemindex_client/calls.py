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
from itemindex_client.flow import Flow, Send, Wait, exchange
from itemindex_client.results import Report, Row
from itemindex_client.settings import Credentials

_WAIT_SECONDS = 20
# The most entries of a page. A list of more pages than this is none that the API has.
PAGE_ENTRIES_MAX = 500
_PAGES_MAX = 1_000
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
        response = yield from self._exchange("GET", path, query, key_needed=key_needed)
        return _document(response)

    def post(self, path: str, body: Any) -> Flow[Any]:
        """POST a JSON question under the key and return the answer's document. It changes nothing. Raises as `get`."""
        response = yield from self._exchange("POST", path, key_needed=True, json=body)
        return _document(response)

    def lookup(self, iid: str) -> Flow[schemas.Item]:
        """Return the record of an IID."""
        return self.get(f"/index/lookup/{quote(iid, safe='')}")

    def lookup_many(self, iids: list[str]) -> Flow[list[schemas.LookupEntry]]:
        """Return an entry for each IID, in their order."""
        document = yield from self.post("/index/lookup", {"iids": iids})
        return list(document["data"])

    def suggest(self, q: str, limit: int) -> Flow[list[schemas.SuggestionEntry]]:
        """Return suggestions for what is being typed."""
        document = yield from self.get("/index/suggest", {"q": q, "limit": limit})
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
        response = yield from exchange(Send("GET", str(url), repeatable=True), self.max_wait)
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
        document = yield from self._report(path, query, seconds, progress)
        progress(1.0, "done")
        return Report(list(document["data"]), dict(document["meta"]), row)

    def whole_list(
        self, path: str, query: dict[str, Any], row: type[Row], seconds: float, progress: Progress
    ) -> Flow[Report[Row]]:
        """Order all pages of a report that is a list, as `report` does, all of one data_version.

        `meta` is that of the first page, with the rows of all and the units of every call; a digest is left out.
        """
        pages: list[Any] = []
        cursor: str | None = None
        units = 0
        for _ in range(_PAGES_MAX):
            page = yield from self._report(path, {**query, "cursor": cursor}, seconds, progress)
            meta = page["meta"]
            units += meta["cost_units"]
            if "next_cursor" not in meta and meta.get("total", 0) > PAGE_ENTRIES_MAX:
                continue  # it is the result of a job, which has no cursor; the list itself has one
            if pages and meta["data_version"] != pages[0]["meta"]["data_version"]:
                pages, cursor = [], None  # the data changed: ranks of two states are no list
                continue
            pages.append(page)
            cursor = meta.get("next_cursor")
            if cursor is None:
                progress(1.0, "done")
                rows = [entry for one in pages for entry in one["data"]]
                return Report(rows, _meta([one["meta"] for one in pages], len(rows), units), row)
        raise ConnectionFailed(f"{path} did not end within {_PAGES_MAX} pages: give a `limit` to read one page")

    def _report(self, path: str, query: dict[str, Any], seconds: float, progress: Progress) -> Flow[Any]:
        prefer = {"Prefer": f"wait={_WAIT_SECONDS}"}
        response = yield from self._exchange("GET", path, query, key_needed=True, headers=prefer)
        if response.status_code != 202:
            return _document(response)
        job = yield from self.finished("/jobs", _document(response), seconds, progress)
        return (yield from self.get(f"/jobs/{job['id']}/result", key_needed=True))

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
        named = {"Idempotency-Key": str(uuid.uuid4())}
        body = known(order, schemas.NewExport)
        response = yield from self._exchange("POST", "/index/exports", key_needed=True, json=body, headers=named)
        ordered = _document(response)
        export: schemas.Export = yield from self.finished("/index/exports", ordered, seconds, progress)
        progress(1.0, "done")
        return export

    def _exchange(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        key_needed: bool,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Flow[httpx.Response]:
        """Send a call of the API, each of which may be repeated: it changes nothing, or has an Idempotency-Key."""
        given = {name.rstrip("_"): value for name, value in (query or {}).items() if value is not None}
        fields = {"Accept": "application/json", **self.credentials.headers(key_needed=key_needed), **(headers or {})}
        return exchange(
            Send(method, f"{self.credentials.url}{path}", given, fields, json, repeatable=True), self.max_wait
        )


def _meta(pages: list[dict[str, Any]], rows: int, units: int) -> dict[str, Any]:
    """Return the `meta` of a list from those of its pages."""
    [first, *others] = pages
    if not others:
        return {**first, "cost_units": units}
    kept = {name: value for name, value in first.items() if name != "result_sha256"}
    cached = all(one["cached"] for one in pages)
    return {**kept, "rows": rows, "cost_units": units, "cached": cached, "next_cursor": None}


def _document(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise ConnectionFailed(f"{response.url} answered with something other than JSON: is it the API's?") from None
