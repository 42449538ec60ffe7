"""The synchronous client."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import httpx

from itemindex_client import schemas
from itemindex_client.calls import Calls, Progress, known, silent
from itemindex_client.downloads import Counted, download, uncounted
from itemindex_client.flow import Flow, Send
from itemindex_client.reports import Reports
from itemindex_client.results import Report
from itemindex_client.settings import credentials

T = TypeVar("T")


class Client:
    """Calls the API and waits for the answers.

    `url`, `key` and `token` default to ITEMINDEX_URL, ITEMINDEX_KEY (or the keyring's) and ITEMINDEX_TOKEN (or the
    anonymous one). `max_wait` bounds how many seconds a call waits for a refusal to pass before it raises it. `http` is
    a client of httpx with settings of your own, such as a proxy; it is not closed.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        token: str | None = None,
        max_wait: float = 60.0,
        timeout: float = 60.0,
        http: httpx.Client | None = None,
    ) -> None:
        self._calls = Calls(credentials(url, key, token), max_wait)
        self._http = http or httpx.Client(timeout=timeout)
        self._is_own = http is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._is_own:
            self._http.close()

    def lookup(self, iid: str) -> schemas.Item:
        """Return the record of an IID. A merged IID returns the record of its article."""
        return self._run(self._calls.lookup(iid))

    def lookup_many(self, iids: list[str]) -> list[schemas.LookupEntry]:
        """Return an entry for each IID, in their order. Needs a key."""
        return self._run(self._calls.lookup_many(iids))

    def resolve(self, **identifiers: Unpack[schemas.ResolveIdentifierQuery]) -> schemas.Item:
        """Return the record of an identifier: gtin, ean, upc, isbn, mpn with brand, sku with source, or url.

        `as_of` finds the item that had a GTIN on a day. Raises SeveralCandidates where it belongs to several items.
        """
        return self._run(self._calls.resolve(identifiers))

    def resolve_many(self, identifiers: list[schemas.IdentifierFields]) -> list[schemas.ResolveEntry]:
        """Return an entry for each identifier, in their order. Needs a key."""
        return self._run(self._calls.resolve_many(identifiers))

    def search(self, q: str, **filters: Unpack[schemas.SearchItemsQuery]) -> Iterator[schemas.SearchHit]:
        """Go through all hits of a search, best first, page by page as they are read. `limit` is that of a page."""
        return self.pages("/index/search", {"q": q, **known(filters, schemas.SearchItemsQuery)})

    def suggest(self, q: str, *, limit: int = 8) -> list[schemas.SuggestionEntry]:
        """Return brands, categories and items that a person may mean by what is typed so far, best first."""
        return self._run(self._calls.suggest(q, limit))

    def brands(self, **filters: Unpack[schemas.ListBrandsQuery]) -> Iterator[schemas.BrandEntry]:
        """Go through the brands."""
        return self.pages("/index/brands", known(filters, schemas.ListBrandsQuery))

    def categories(self, **filters: Unpack[schemas.ListCategoriesQuery]) -> Iterator[schemas.CategoryEntry]:
        """Go through the categories."""
        return self.pages("/index/categories", known(filters, schemas.ListCategoriesQuery))

    def channels(self, **filters: Unpack[schemas.ListChannelsQuery]) -> Iterator[schemas.ChannelEntry]:
        """Go through the channels."""
        return self.pages("/index/channels", known(filters, schemas.ListChannelsQuery))

    def jobs(self, **filters: Unpack[schemas.ListJobsQuery]) -> Iterator[schemas.Job]:
        """Go through the organization's jobs, newest first. Needs a key."""
        return self.pages("/jobs", known(filters, schemas.ListJobsQuery), key_needed=True)

    def events(self, **filters: Unpack[schemas.ListEventsQuery]) -> Iterator[schemas.Event]:
        """Go through the events, oldest first, with `after` those after a cursor. Needs a key."""
        return self.pages("/events", known(filters, schemas.ListEventsQuery), key_needed=True, cursor_name="after")

    def pages(
        self, path: str, query: dict[str, Any], *, key_needed: bool = False, cursor_name: str = "cursor"
    ) -> Iterator[Any]:
        """Go through the entries of a list, one page after another."""
        while True:
            page = self._run(self._calls.get(path, query, key_needed=key_needed))
            yield from page["data"]
            if page["next_cursor"] is None:
                return
            query = {**query, cursor_name: page["next_cursor"]}

    def prices(self, iid: str, **query: Unpack[schemas.GetPricingQuery]) -> Report[schemas.PricingRow]:
        """Return the price history of an item. Needs a key."""
        return self._run(self._calls.prices(iid, query))

    def prior_price(self, iid: str, **query: Unpack[schemas.GetPriorPriceQuery]) -> Report[schemas.PriorPriceRow]:
        """Return each channel's running reduction with its prior price and evidence. Needs a key."""
        return self._run(self._calls.prior_price(iid, query))

    def sustainability(
        self, iid: str, **query: Unpack[schemas.GetSustainabilityQuery]
    ) -> Report[schemas.SustainabilityRow]:
        """Return the footprint of an item. Needs a key."""
        return self._run(self._calls.sustainability(iid, query))

    def quota(self) -> schemas.QuotaAnswer:
        """Return the caller's limits and what is left of them. Costs nothing."""
        limits: schemas.QuotaAnswer = self._run(self._calls.get("/quota"))
        return limits

    @property
    def report(self) -> "Reports[Client]":
        """The paid reports, each a method: `client.report.cohorts(brand=…).wait()`."""
        return Reports(self)

    def export(
        self, *, within: float = 3_600.0, progress: Progress = silent, **order: Unpack[schemas.NewExport]
    ) -> schemas.Export:
        """Order an export, wait for it, and return its manifest with signed addresses. Needs a key."""
        return self._run(self._calls.export(order, within, progress))

    def release(self, dataset: str, version: str | int = "latest") -> "Release":
        """Return a release of a dataset. Needs a key."""
        return Release(self, self._run(self._calls.release(dataset, version)))

    def release_keys(self) -> Mapping[str, Any]:
        """Return the public keys that signatures of manifests are checked with."""
        return self._run(self._calls.release_keys())

    def _run(self, flow: Flow[T]) -> T:
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                value: T = end.value
                return value
            if isinstance(step, Send):
                answer = self._sent(step)
            else:
                answer = None
                time.sleep(step.seconds)

    def _sent(self, step: Send) -> httpx.Response | httpx.TransportError:
        try:
            return self._http.send(step.request(self._http), follow_redirects=True)
        except httpx.TransportError as error:
            return error


class Release:
    """One release of a dataset; `manifest` names its files with their digests."""

    def __init__(self, client: Client, manifest: schemas.ReleaseManifest) -> None:
        self._client = client
        self.manifest = manifest

    def download(self, folder: str | Path = ".", *, parallel: int = 4, progress: Counted = uncounted) -> Path:
        """Download all files into folder/dataset/version, resumed where it stopped and checked; return that folder.

        `progress` is called with numbers of bytes that came, below zero where some turned out to be others. Raises
        DownloadFailed, or ApiProblem where the service refuses a file.
        """
        credentials = self._client._calls.credentials
        return download(self._client._http, self.manifest, credentials, Path(folder), parallel, progress)
