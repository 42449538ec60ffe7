"""Every operation of the API answers as it is recorded beside this file: status, headers and body.

`python -m tests.service.http.test_recorded_answers` writes the record anew. A change of it is a change for callers.
"""

import asyncio
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from yarl import URL

from edge.analytics.reports.declared import REPORTS
from edge.http.catalogue import CATALOGUE
from shared.db.connect import connect
from shared.settings.settings import Settings
from shared.telemetry import metrics as telemetry
from tests.service.dashboard.browser import Browser
from tests.service.exports.orders import work as make_exports
from tests.service.webhooks.calls import send
from tests.service.webhooks.receivers import receiver
from tests.support.accounts import api_key, free_token
from tests.support.client import Answer, Edge, running_edge
from tests.support.database import execute
from tests.support.issuer import Issuer, running_issuer
from tests.support.mcp import HANDSHAKE, STATELESS, Mcp
from tests.support.rates import load_rates
from tests.support.recording import Recording, compare, problem_examples, rewrite
from tests.support.releases import cut
from tests.support.reports import queued
from tests.support.servers import Contents, Servers, folder_in_memory
from tests.support.shop import MAPPING, load_rows, open_shop
from tests.support.workers import run

RECORD = Path(__file__).with_name("recorded")
PROBLEMS = Path(__file__).parents[3] / "edge/docs/problem_examples.json"
DOCUMENT = json.loads((Path(__file__).parents[3] / "docs/openapi/v1.json").read_text())
OPERATIONS = {
    operation["operationId"]: (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
    if "operationId" in operation
}
ORIGIN = "http://testserver"

HEADER = "sku,ean,name,brand,group,kind,weight,day,store,price,list\n"
GTIN, CUSTARD_GTIN, TEA_GTIN, SHARED_GTIN = "4006381333931", "9780201379624", "5901234123457", "0012345678905"
ROWS = (
    f"1,{GTIN},Soy milk 1L,Vita,Drinks,Soy milk,1.0,2021-03-01,NORTH,10.90,12\n"
    f"1,{GTIN},Soy milk 1L,Vita,Drinks,Soy milk,1.0,2021-03-02,NORTH,11.50,12\n"
    f"1,{GTIN},Soy milk 1L,Vita,Drinks,Soy milk,1.0,2021-03-02,SOUTH,9.00,\n"
    f"2,{CUSTARD_GTIN},Crème brûlée,Maison,Desserts,Custard,0.2,2021-03-01,NORTH,25,\n"
    "3,,豆奶 Soy drink,Vita,Drinks,Soy milk,,2021-03-01,SOUTH,8.5,\n"
    "5,,Rice milk 1L,Vita,Drinks,Rice milk,1.0,2021-03-01,SOUTH,7,\n"
    # One number on two items of one shop.
    f"6,{SHARED_GTIN},Oat bar,Maison,Snacks,Bars,0.05,2021-03-01,NORTH,6,\n"
    f"7,{SHARED_GTIN},Oat bars 12 pieces,Maison,Snacks,Bars,0.6,2021-03-01,NORTH,60,\n"
)
# Another shop: one item is the first shop's by its number, one has a number of the first shop and another size.
ROWS_OF_ANOTHER = (
    f"x,{GTIN},Soy milk 1L,Vita,Drinks,Soy milk,1.0,2021-04-01,EAST,10.50,\n"
    f"1,{CUSTARD_GTIN},Crème brûlée 2 kg,Maison,Desserts,Custard,2.0,2021-04-01,EAST,99,\n"
)
# A month in which a price falls below the one that is crossed out.
ROWS_OF_TEA = "".join(
    f"y,{TEA_GTIN},Tea,Leaf,Drinks,Tea,0.1,{date(2021, 4, 1) + timedelta(days=n)},WEST,{'19.90' if n >= 30 else '30'},30\n"
    for n in range(33)
)
RATES = (
    "Date,USD,JPY,HKD,\n"
    "2021-05-03,1.2044,131.62,9.3541,\n2021-04-30,1.2082,131.62,9.3814,\n2021-04-01,1.1746,129.90,9.1345,\n"
    "2021-03-31,1.1725,129.91,9.1153,\n2021-03-02,1.2028,128.53,9.3314,\n2021-03-01,1.2053,128.54,9.3493,\n"
)
FOOTPRINTS = """
INSERT INTO impacts SELECT i.id, f.indicator, f.amount, f.basis, f.method, t.source_id, '2021-01-01'
FROM items i JOIN item_sources t ON t.item_id = i.id CROSS JOIN (VALUES
  ('co2e_kg', 0.7, 'measured', 'weighed'), ('water_l', 28.0, 'modelled', 'by recipe')) f (indicator, amount, basis, method)
WHERE t.source_item_id = '1' AND i.name = 'Soy milk 1L'
"""


def mapping_of(source: str) -> str:
    """Return the mapping of a shop whose rows have trade item numbers."""
    text = MAPPING.replace('source = "shop"', f'source = "{source}"')
    return text.replace('sku = "sku"\n', 'sku = "sku"\ngtin = "ean"\n')


def small_index(settings: Settings, folder: Path) -> None:
    """Load two shops and exchange rates, and cut releases of two states; one item is withdrawn."""
    load_rows(settings, folder, ROWS, text=mapping_of("shop_a"), header=HEADER)
    cut_undated(settings)
    load_rows(settings, folder, ROWS_OF_ANOTHER, text=mapping_of("shop_b"), header=HEADER)
    with connect(settings.database_url, application="tests") as connection:
        connection.execute(FOOTPRINTS)
        connection.execute("UPDATE items SET status = 'withdrawn' WHERE name = 'Rice milk 1L'")
        # How many calls a second a plan allows is not what these answers show.
        connection.execute("UPDATE plans SET burst_units = 10000 WHERE name IN ('brand', 'institutional')")
    load_rates(settings, folder, RATES)
    open_shop(settings, folder, ROWS_OF_TEA, text=mapping_of("shop_b"), header=HEADER)
    cut_undated(settings)


def cut_undated(settings: Settings) -> None:
    """Cut a release whose bytes do not depend on when its items were loaded."""
    execute(settings, "UPDATE items SET updated_at = '2021-06-01'")
    cut(settings)


@pytest.fixture(scope="module")
def contents() -> Contents:
    return small_index


Head = Mapping[str, str]
SOY, CUSTARD, DRINK, RICE = (
    "IID-CH0YQ-ZKJG4-TP680",
    "IID-VFVR6-2QG92-TR3RT",
    "IID-GV6HN-A5TDT-P4HGP",
    "IID-PAZP4-EW2P9-RCVYB",
)
SOY_OF_ANOTHER, TEA = "IID-CQ9R0-GNR3C-0D700", "IID-07JCY-VJCQT-WF033"
AFTER_THE_LAST_LOAD = 5
UNKNOWN = "IID-00000-00000-00000"
NO_UUID = "00000000-0000-7000-8000-000000000000"
ASYNC = {"Prefer": "respond-async"}
FORMATS = ("csv", "ndjson", "parquet")


def operation_of(method: str, path: str) -> str | None:
    """Return the operation of the document that a request asks, or None; HEAD asks what GET asks."""
    asked = path.partition("?")[0].split("/")
    for name, (known, template) in OPERATIONS.items():
        parts = template.split("/")
        if (known, len(parts)) == ("GET" if method == "HEAD" else method, len(asked)) and all(
            part == one or (part.startswith("{") and one) for part, one in zip(parts, asked, strict=True)
        ):
            return name
    return None


@dataclass
class Asker:
    """Asks an edge as one caller after another, and has each answer written down."""

    edge: Edge
    issuer: Issuer
    recording: Recording
    folder: Path
    address: str = ""
    operations: set[str | None] = field(default_factory=set)
    _charges: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def settings(self) -> Settings:
        return self.edge.settings

    def begin(self, subject: str, number: int) -> None:
        """Begin a subject, with an address of its own: what one subject uses up is not another's."""
        self.recording.begin(subject)
        self.address = f"192.0.2.{number}"

    @property
    def anonymous(self) -> Head:
        """The credential of a caller without a sign-up."""
        return {"X-Service-Public-Token": self.settings.anonymous_token}

    def key(self, plan: str) -> Head:
        """Make an organization with this plan; return the credential of its key."""
        return {"Authorization": f"ApiKey {api_key(self.settings, plan)}"}

    def person(self, who: str) -> Head:
        """Return the credential of a person."""
        return {"Authorization": f"Bearer {self.issuer.token(who)}"}

    async def ask(
        self,
        title: str,
        path: str,
        credential: Head | None = None,
        *,
        method: str = "GET",
        body: Any = None,
        head: Head | None = None,
        recorded: bool = True,
        held_elsewhere: bool = False,
        **options: Any,
    ) -> Answer:
        """Send a request as nginx would; `options` are the recording's. Of a body held elsewhere the ETag is a name."""
        self.operations.add(operation_of(method, path))
        given, content = {**(credential or {}), **(head or {})}, None
        if body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
            given.setdefault("Content-Type", "application/json")
        fields = {"X-Real-IP": self.address, "X-Charge-Id": f"{next(self._charges):032x}", **given}
        url = URL(f"{ORIGIN}{path}", encoded=True)
        async with self.edge.session.request(
            method, url, headers=fields, data=content, allow_redirects=False
        ) as response:
            answer = Answer(response.status, response.headers, await response.read())
        if held_elsewhere:
            self.recording.note(answer.head["ETag"].removeprefix("W/").strip('"'), "digest")
        if recorded:
            lines = [f"{method} {path}", *(f"{name}: {value}" for name, value in given.items())]
            lines += ["", content.decode("utf-8", "backslashreplace")] if content else []
            name = operation_of(method, path)
            title = f"{name} {answer.status}: {title}" if name else title
            self.recording.add(title, lines, answer.status, answer.head.items(), answer.body, **options)
        return answer

    async def until(self, path: str, credential: Head, holds: Callable[[Any], bool]) -> None:
        """Ask until an answer is as it will be: the edge learns of what happens elsewhere a moment later."""
        async with asyncio.timeout(30):
            while not holds((await self.ask("not recorded", path, credential, recorded=False)).json):
                await asyncio.sleep(0.01)

    async def report(self, title: str, path: str, credential: Head, **options: Any) -> Answer:
        """Ask for a report: first as a job, then, after a worker made it, for its rows."""
        await self.ask(f"{title}, as a job", path, credential, head={"Prefer": "respond-async"})
        for job in await asyncio.to_thread(queued, self.settings):
            assert await asyncio.to_thread(run, self.settings, job) == "succeeded"
        return await self.ask(title, path, credential, **options)


def path_of(url: str) -> str:
    """Return the path of an address that an answer gives."""
    return url.removeprefix(ORIGIN)


def digest(text: str) -> str:
    """Show a text that is too long to read by its digest."""
    return f"(sha256 {hashlib.sha256(text.encode()).hexdigest()})"


# The bodies of these have judges of their own, and change with every description, guide or build.
HELD: dict[str, dict[str, Any]] = {
    "document": {"held_elsewhere": True, "shown": lambda text: "(as docs/openapi/v1.json)"},
    "guide": {"held_elsewhere": True, "shown": lambda text: "(as docs/guides)"},
    "clients": {
        "held_elsewhere": True,
        "shown": lambda text: re.sub(r"[\d,]+(?= bytes)|(?<=\"bytes\": )\d+|[0-9a-f]{64}", "{of the build}", text),
    },
}


async def service(asker: Asker) -> None:
    """What describes the service."""
    ask, key = asker.ask, asker.key("brand")
    await ask("alive", "/v1/health")
    await ask("ready", "/v1/ready")
    await ask("by a key", "/v1/", key)
    await ask("by a person", "/v1/", asker.person("grace"))
    await ask("without a credential", "/v1/")
    await ask("by a public token", "/v1/", asker.anonymous)
    await ask("of an anonymous caller", "/v1/quota", asker.anonymous)
    await ask("of a free sign-up", "/v1/quota", {"X-Service-Public-Token": free_token(asker.settings)})
    await ask("of a key", "/v1/quota", key)
    await ask("of a person", "/v1/quota", asker.person("grace"))
    await ask("with two credentials", "/v1/quota", {**key, **asker.anonymous})
    await ask("with a key that has a typing error", "/v1/quota", {"Authorization": f"ApiKey iixk_live_{'0' * 48}"})
    await ask("with an unknown scheme", "/v1/quota", {"Authorization": "Basic YTpi"})
    await ask("with a token that is none", "/v1/quota", {"Authorization": "Bearer x.y.z"})
    await ask("the document", "/v1/openapi.json", **HELD["document"])
    await ask("the document, compressed", "/v1/openapi.json", head={"Accept-Encoding": "gzip"}, **HELD["document"])
    await ask("the document as YAML", "/v1/openapi.yaml", **HELD["document"])
    first = await ask("not recorded", "/v1/openapi.json", recorded=False)
    await ask("unchanged", "/v1/openapi.json", head={"If-None-Match": first.head["ETag"]})
    await ask("no such path", "/v1/nowhere")
    await ask("a trailing slash", "/v1/health/?a=b")
    await ask("another method", "/v1/health", method="POST")
    await ask("a parameter that is not known", "/v1/quota?x=1", asker.anonymous)
    await ask("another media type", "/v1/quota", asker.anonymous, head={"Accept": "text/csv"})
    await ask("head", "/v1/health", method="HEAD")
    asked = {"Origin": "https://a.test", "Access-Control-Request-Method": "GET"}
    await ask("of another origin", f"/v1/index/lookup/{SOY}", method="OPTIONS", head=asked)
    await ask("of another origin, where none may ask", "/v1/org", method="OPTIONS", head=asked)
    await ask("an id of the caller's", "/v1/health", head={"X-Request-Id": "chosen-by-the-caller"})


async def pages(asker: Asker) -> None:
    """Pages for people, and what crawlers read."""

    async def ask(title: str, path: str, **more: Any) -> Answer:
        return await asker.ask(title, path, dated=False, **more)

    await ask("the origin", "/")
    await ask("as a page", "/v1/docs")
    await ask("as Markdown", "/v1/docs", head={"Accept": "text/markdown"})
    await ask("the reference", "/v1/docs/reference")
    await ask("the document with samples", "/v1/docs/reference/openapi.json", **HELD["document"])
    await ask("the guides", "/v1/docs/guides")
    await ask("a guide as a page", "/v1/docs/guides/mcp", **HELD["guide"])
    await ask("a guide as Markdown by its name", "/v1/docs/guides/mcp.md", **HELD["guide"])
    await ask("a guide as Markdown", "/v1/docs/guides/mcp", head={"Accept": "text/markdown"}, **HELD["guide"])
    await ask("no such guide", "/v1/docs/guides/none")
    await ask("the clients", "/v1/clients/", **HELD["clients"])
    await ask("the clients as Markdown", "/v1/clients/", head={"Accept": "text/markdown"}, **HELD["clients"])
    await ask("for programs", "/v1/errors")
    await ask("for people", "/v1/errors", head={"Accept": "text/html"})
    await ask("one for programs", "/v1/errors/rate-limited")
    await ask("one for people", "/v1/errors/rate-limited", head={"Accept": "text/html"})
    await ask("no such problem", "/v1/errors/none")
    for path in ("/.well-known/api-catalog", "/.well-known/security.txt", "/llms.txt", "/robots.txt"):
        await ask(path, path)
    await ask("an icon", "/favicon.ico", shown=digest)
    await ask("a file that does not exist", "/static/none.css")


async def index(asker: Asker) -> None:
    """What a thing is."""
    ask, key, record = asker.ask, asker.key("institutional"), f"/v1/index/lookup/{SOY}"
    brand, free = asker.key("brand"), asker.key("free")
    found = await ask("a record", record, key)
    await ask("unchanged", record, key, head={"If-None-Match": found.head["ETag"]})
    await ask("head", record, key, method="HEAD")
    await ask("compressed", record, key, head={"Accept-Encoding": "gzip"})
    await ask("by a page of another origin", record, key, head={"Origin": "https://a.test"})
    await ask("another media type", record, key, head={"Accept": "text/html"})
    await ask("in lower case", f"/v1/index/lookup/{DRINK.lower()}", key)
    await ask("merged", f"/v1/index/lookup/{SOY_OF_ANOTHER}", key)
    await ask("withdrawn", f"/v1/index/lookup/{RICE}", key)
    await ask("not known", f"/v1/index/lookup/{UNKNOWN}", key)
    await ask("malformed", "/v1/index/lookup/nonsense", key)
    await ask("without a credential", record)
    for title in ("first", "second", "third"):
        await ask(f"an anonymous caller's {title} of a day", record, asker.anonymous)
    await ask("an anonymous caller's fourth of a day", record, asker.anonymous)
    both = f"/v1/index/lookup?iid={SOY}&iid={UNKNOWN}&iid={RICE}&iid=nonsense&iid={SOY_OF_ANOTHER}"
    await ask("a batch", both, key)
    await ask("its price", f"{both}&dry_run=true", key)
    await ask("without items", "/v1/index/lookup", key)
    await ask("by a free plan", both, free)
    await ask("by an anonymous caller", both, asker.anonymous)
    lookup: dict[str, Any] = {"method": "POST", "path": "/v1/index/lookup", "credential": key}
    await ask("a batch", body={"iids": [SOY, CUSTARD]}, **lookup)
    await ask("several faults", body={"iids": [1, ""], "more": 1}, **lookup)
    await ask("no JSON", body=b"{", **lookup)
    await ask(
        "not a document of JSON", body=b"a=b", head={"Content-Type": "application/x-www-form-urlencoded"}, **lookup
    )
    await ask("too many for the plan", body={"iids": [SOY] * 101}, **{**lookup, "credential": brand})
    await ask("by a number", f"/v1/index/resolve?gtin={GTIN}", key)
    await ask("by another number", "/v1/index/resolve?sku=2&source=shop_a", key)
    await ask("several", f"/v1/index/resolve?gtin={SHARED_GTIN}", key)
    await ask("a number of a source that is not named", "/v1/index/resolve?sku=1", key)
    await ask("by an item that was merged", f"/v1/index/resolve?iid={SOY_OF_ANOTHER}", key)
    await ask("not known", "/v1/index/resolve?gtin=5449000000996", key)
    await ask("a wrong check digit", "/v1/index/resolve?gtin=4006381333932", key)
    await ask("nothing asked", "/v1/index/resolve", key)
    await ask("two identifiers", f"/v1/index/resolve?gtin={GTIN}&sku=1", key)
    resolve: dict[str, Any] = {"method": "POST", "path": "/v1/index/resolve", "credential": key}
    asked = [
        {"gtin": GTIN},
        {"gtin": SHARED_GTIN},
        {"gtin": "5449000000996"},
        {"gtin": "4006381333932"},
        {"sku": "9", "source": "shop_a"},
    ]
    await ask("a batch", body={"identifiers": asked}, **resolve)
    await ask("its price", body={"identifiers": asked}, **{**resolve, "path": "/v1/index/resolve?dry_run=true"})
    await ask("several faults", body={"identifiers": [{"gtin": 1}, "x"], "more": 1}, **resolve)
    page = await ask("the first page", "/v1/index/search?q=milk&limit=1", key)
    await ask("the next page", f"/v1/index/search?q=milk&limit=1&cursor={page.json['next_cursor']}", key)
    await ask("a typing error", "/v1/index/search?q=custrad", key)
    await ask("a name in Chinese", "/v1/index/search?q=%E8%B1%86%E5%A5%B6", key)
    await ask("the beginning of an IID", "/v1/index/search?q=IID-CH", key)
    await ask("an identifier", f"/v1/index/search?q={GTIN}", key)
    await ask("with filters", "/v1/index/search?q=soy&brand=vita&category=drinks.soy-milk&product_type=Soy%20milk", key)
    await ask("nothing found", "/v1/index/search?q=zzzz", key)
    await ask("several faults", "/v1/index/search?limit=0&cursor=x&x=1", key)
    await ask("another query's cursor", f"/v1/index/search?q=tea&cursor={page.json['next_cursor']}", key)
    await ask("another media type", "/v1/index/search?q=milk", key, head={"Accept": "text/csv"})
    await ask("without a credential", "/v1/index/search?q=milk")
    more = "&facets=brand,category,channel&fields=price_band,unit_price,identifiers,attributes,channels"
    await ask("members and facets", f"/v1/index/search?q=milk&limit=2{more}", key)
    await ask("a price that is understood", "/v1/index/search?q=milk+1l+under+20+hkd", key)
    await ask("by price", "/v1/index/search?q=milk&currency=HKD&sort=price&limit=2", key)
    await ask("a price without its currency", "/v1/index/search?q=milk&price_max=20", key)
    await ask("suggestions", "/v1/index/suggest?q=mil", key)
    await ask("suggestions without a sign-up", "/v1/index/suggest?q=mil", asker.anonymous)
    page = await ask("the first page", "/v1/index/brands?limit=2", key)
    await ask("the next page", f"/v1/index/brands?limit=2&cursor={page.json['next_cursor']}", key)
    await ask("by a beginning", "/v1/index/brands?q=vi&sort=name", key)
    await ask("several faults", "/v1/index/brands?limit=501&sort=x&q=", key)
    await ask("all", "/v1/index/categories", key)
    await ask("below another", "/v1/index/categories?parent=drinks&level=2&limit=2", key)
    await ask("several faults", "/v1/index/categories?level=x&limit=0", key)
    await ask("all", "/v1/index/channels", key)
    await ask("by a beginning", "/v1/index/channels?q=NO", key)
    await ask("several faults", "/v1/index/channels?limit=x&y=1", key)


async def digital_link(asker: Asker) -> None:
    """GS1 Digital Links."""
    ask, link = asker.ask, f"/01/0{GTIN}"
    await ask("to its default", link)
    await ask("head", link, method="HEAD")
    await ask("as a set of links", link, head={"Accept": "application/linkset+json"})
    await ask("as JSON", link, head={"Accept": "application/json"})
    await ask("as a page", link, head={"Accept": "text/html"})
    await ask("of a type", f"{link}?linkType=gs1:pip")
    await ask("of all types", f"{link}?linkType=all")
    await ask("of a type that it has not", f"{link}?linkType=gs1:recallStatus")
    await ask("with qualifiers and a date", f"{link}/10/ABC1/21/98765?17=261231")
    await ask("several items", f"/01/0{SHARED_GTIN}")
    await ask("a wrong check digit", "/01/04006381333932")
    await ask("not known", "/01/05449000000996")
    await ask("options", link, method="OPTIONS", head={"Origin": "https://a.test"})
    await ask("its description", "/.well-known/gs1resolver")


async def analytics(asker: Asker) -> None:
    """What one thing sells for, and what it costs the planet."""
    ask, key, free = asker.ask, asker.key("brand"), asker.key("free")
    pricing, reference, footprint = (
        f"/v1/index/pricing/{SOY}",
        f"/v1/index/pricing/{TEA}/reference",
        f"/v1/index/sustainability/{SOY}",
    )
    found = await ask("a history", pricing, key)
    await ask("unchanged", pricing, key, head={"If-None-Match": found.head["ETag"]})
    await ask("head", pricing, key, method="HEAD")
    for form in FORMATS:
        await ask(f"as {form}", f"{pricing}?format={form}", key)
    await ask("as CSV by its media type", pricing, key, head={"Accept": "text/csv"})
    await ask("another media type", pricing, key, head={"Accept": "application/pdf"})
    await ask("its price", f"{pricing}?dry_run=true", key)
    await ask("in another currency", f"{pricing}?convert=USD&rates=ecb", key)
    await ask(
        "of some days and a channel", f"{pricing}?from=2021-03-02&to=2021-03-03&channel=NORTH&outliers=include", key
    )
    await ask("several faults", f"{pricing}?from=x&to=2021-03-40&currency=XXX&channel=EAST9&convert=USD&kind=z", key)
    await ask("merged", f"/v1/index/pricing/{SOY_OF_ANOTHER}", key)
    await ask("withdrawn", f"/v1/index/pricing/{RICE}", key)
    await ask("not known", f"/v1/index/pricing/{UNKNOWN}", key)
    await ask("malformed", "/v1/index/pricing/nonsense", key)
    await ask("by a free plan", pricing, free)
    await ask("by an anonymous caller", pricing, asker.anonymous)
    await ask("without a credential", pricing)
    await ask("by a person", pricing, asker.person("grace"))
    await ask("of a reduction", f"{reference}?asked_on=2021-05-03", key)
    await ask("as CSV", f"{reference}?asked_on=2021-05-03&format=csv", key)
    await ask("in another currency", f"{reference}?asked_on=2021-05-03&convert=EUR&rates=ecb", key)
    await ask("several faults", f"{reference}?asked_on=x&progressive=y&progressive_days=0", key)
    await ask("by a free plan", reference, free)
    found = await ask("a footprint", footprint, key)
    await ask("unchanged", footprint, key, head={"If-None-Match": found.head["ETag"]})
    await ask("as CSV", f"{footprint}?format=csv", key)
    await ask("what resale avoids", f"{footprint}?displacement=resale", key)
    await ask("nothing known", f"/v1/index/sustainability/{CUSTARD}", key)
    await ask("several faults", f"{footprint}?displacement=x&from=y", key)
    await ask("by a free plan", footprint, free)


DAYS = "from=2021-03-01&to=2021-05-03"


async def reports(asker: Asker) -> None:
    """Reports: each as a job and as rows, one of them in every form."""
    ask, key, cohort = asker.ask, asker.key("institutional"), f"/v1/index/cohorts?brand=vita&brand=leaf&{DAYS}"
    first = await asker.report("a cohort", cohort, key)
    await ask("made before", cohort, key)
    await ask("unchanged", cohort, key, head={"If-None-Match": first.head["ETag"]})
    await ask("head", cohort, key, method="HEAD")
    await ask("a part", cohort, key, head={"Range": "bytes=0-99"})
    await ask("no such part", cohort, key, head={"Range": "bytes=999999-"})
    for form in FORMATS:
        await asker.report(f"as {form}", f"{cohort}&format={form}", key)
    await asker.report(
        "in groups, converted",
        f"{cohort}&group_by=channel&group_by=category&granularity=month&convert=USD&rates=ecb",
        key,
    )
    await ask("its price", f"{cohort}&granularity=week&dry_run=true", key)
    await ask("another media type", cohort, key, head={"Accept": "image/png"})
    faults = "brand=none&from=2021-13-01&granularity=hour&currency=QQQ&group_by=a,b,c&kind=z&outliers=q&format=xls&x=1"
    await ask("several faults", f"/v1/index/cohorts?{faults}", key)
    await ask("nothing named", "/v1/index/cohorts", key)
    await ask("a brand that is not known", f"/v1/index/cohorts?brand=none&{DAYS}", key)
    await ask("by a free plan", cohort, asker.key("free"))
    await ask("by an anonymous caller", cohort, asker.anonymous)
    await ask("by a person", cohort, asker.person("grace"))
    await ask("a wait that is none", cohort, key, head={"Prefer": "wait=x"})
    listed = await asker.report("all, the first page", f"/v1/index/insights/categories?{DAYS}&limit=1", key)
    cursor = listed.json["meta"]["next_cursor"]
    await asker.report("all, the next page", f"/v1/index/insights/categories?{DAYS}&limit=1&cursor={cursor}", key)
    await ask("several faults", "/v1/index/insights/categories?sort=x&limit=0&parent=none&to=1", key)
    await asker.report("one", f"/v1/index/insights/categories/drinks?{DAYS}&group_by=channel", key)
    await ask("not known", f"/v1/index/insights/categories/none?{DAYS}", key)
    await asker.report("all", f"/v1/index/insights/brands?{DAYS}&granularity=month", key)
    await asker.report("one", f"/v1/index/insights/brands/vita?{DAYS}", key)
    await ask("not known", f"/v1/index/insights/brands/none?{DAYS}", key)
    await asker.report("of a category", f"/v1/index/prices/index?category=drinks&granularity=month&{DAYS}", key)
    await ask("of nothing", f"/v1/index/prices/index?{DAYS}", key)
    await ask("several faults", "/v1/index/prices/index?brand=vita&method=x&window=y&splice=z&granularity=q", key)
    await asker.report("of all", f"/v1/index/insights/reductions?{DAYS}", key)
    await asker.report("of a channel as CSV", f"/v1/index/insights/reductions?channel=WEST&{DAYS}&format=csv", key)
    await ask("several faults", "/v1/index/insights/reductions?channel=x9&category=none&from=y", key)
    rollup = f"/v1/index/rollups/sustainability?brand=vita&{DAYS}"
    await asker.report("of a brand", f"{rollup}&group_by=category&basis=assortment", key)
    await ask("several faults", f"{rollup}&basis=x&displacement=y&displacement_rate=-1", key)
    await ask("by a plan that has none", rollup, asker.key("brand"))
    weights, table = "/v1/weights/example", "/v1/weights/example?price_reference=2021-03-01"
    rows = {"rows": [{"code": "drinks", "weight": "1"}]}
    await ask("a table", table, key, method="PUT", body=rows)
    csv = {"Content-Type": "text/csv"}
    await ask("the same rows as CSV", table, key, method="PUT", body=b"code,weight\ndrinks,1\n", head=csv)
    await ask("several faults", table, key, method="PUT", body=b"code,weight\nnone,-1\ndrinks,\n", head=csv)
    await ask("all", "/v1/weights", key)
    await ask("its rows", weights, key)
    await asker.report("by own weights", f"/v1/index/prices/aggregate-index?weights=example&{DAYS}", key)
    await ask("several faults", "/v1/index/prices/aggregate-index?weights=X&granularity=day", key)
    await ask("one", weights, key, method="DELETE")
    await ask("again", weights, key, method="DELETE")
    for endpoint in (one for report in REPORTS for one in report.endpoints):
        if endpoint.example and endpoint.operation not in asker.operations:
            example = endpoint.example.format(brand="vita", category="drinks")
            await asker.report("its example", f"/v1/index{example}{'&' if '?' in example else '?'}{DAYS}", key)


async def jobs(asker: Asker) -> None:
    """Jobs, from their order to their end."""
    ask, key, cohort = asker.ask, asker.key("brand"), f"/v1/index/cohorts?brand=maison&{DAYS}"
    ordered = await ask("an order", cohort, key, head=ASYNC)
    job = f"/v1/jobs/{ordered.json['id']}"
    await ask("one that waits", job, key)
    await ask("of one that waits", f"{job}/result", key)
    await ask("another order", f"{cohort}&granularity=day", key, head=ASYNC)
    execute(asker.settings, "UPDATE plans SET jobs_queued = 2 WHERE name = 'brand'")
    asker.edge.forget_accounts()
    await ask("an order too many", f"{cohort}&granularity=week", key, head=ASYNC)
    page = await ask("the first page", "/v1/jobs?limit=1", key)
    await ask("the next page", f"/v1/jobs?limit=1&cursor={page.json['next_cursor']}", key)
    other = f"/v1/jobs/{page.json['data'][0]['id']}"
    await ask("one that waits", other, key, method="DELETE")
    await ask("again", other, key, method="DELETE")
    await ask("of one that is cancelled", f"{other}/result", key)
    for waiting in await asyncio.to_thread(queued, asker.settings):
        assert await asyncio.to_thread(run, asker.settings, waiting) == "succeeded"
    await ask("one that is done", job, key)
    result = await ask("the rows", f"{job}/result", key)
    await ask("unchanged", f"{job}/result", key, head={"If-None-Match": result.head["ETag"]})
    await ask("only if it is another", f"{job}/result", key, head={"If-Match": '"another"'})
    await ask("a part", f"{job}/result", key, head={"Range": "bytes=10-19"})
    await ask("of one that is done", f"{job}/events", key)
    await ask("from the last on", f"{job}/events", key, head={"Last-Event-ID": "9"})
    await ask("one that is done", job, key, method="DELETE")
    await ask("by state", "/v1/jobs?state=succeeded&kind=cohorts", key)
    await ask("several faults", "/v1/jobs?state=x&limit=0&cursor=y", key)
    await ask("without a credential", "/v1/jobs")
    await ask("by an anonymous caller", "/v1/jobs", asker.anonymous)
    for path in (f"/v1/jobs/{NO_UUID}", "/v1/jobs/nonsense"):
        await ask("not known", path, key)
    for end in ("", "/result", "/events"):
        await ask("another organization's", f"{job}{end}", asker.key("brand"))
    await ask("another organization's", job, asker.key("brand"), method="DELETE")
    execute(asker.settings, "UPDATE jobs SET expires_at = now() WHERE state = 'succeeded' AND kind = 'cohorts'")
    await ask("of one that is expired", f"{job}/result", key)
    await ask("one that is expired", job, key)


async def datasets(asker: Asker) -> None:
    """Releases and their files."""
    ask, key = asker.ask, asker.key("institutional")
    releases = "/v1/index/datasets/observations/releases"
    await ask("all", "/v1/index/datasets", key)
    await ask("by a plan that has none", "/v1/index/datasets", asker.key("brand"))
    await ask("by an anonymous caller", "/v1/index/datasets", asker.anonymous)
    await ask("without a credential", "/v1/index/datasets")
    page = await ask("the first page", f"{releases}?limit=1", key)
    await ask("the next page", f"{releases}?limit=1&cursor={page.json['next_cursor']}", key)
    await ask("several faults", f"{releases}?limit=0&x=1", key)
    await ask("not known", "/v1/index/datasets/none/releases", key)
    await ask("changes", "/v1/index/datasets/merged/schema-changes", key)
    await ask("not known", "/v1/index/datasets/none/schema-changes", key)
    for form in ("croissant", "schema-org", "dcat"):
        # The moment of the release is in the text, and so in its ETag.
        await ask(f"as {form}", f"/v1/index/datasets/merged/releases/latest/descriptions/{form}", held_elsewhere=True)
    await ask("in no such form", "/v1/index/datasets/merged/releases/latest/descriptions/rdf")
    await ask("of no such release", "/v1/index/datasets/merged/releases/9/descriptions/dcat")
    await ask("the keys that sign manifests", "/.well-known/release-keys.json")
    manifest = await ask("the newest", f"{releases}/latest", key)
    await ask("an older one", f"{releases}/1", key)
    await ask("not known", f"{releases}/9", key)
    chosen = manifest.json["files"][-1]
    file, signed = path_of(chosen["url"]), path_of(chosen["signed_url"])
    found = await ask("whole", file, key)
    await ask("head", file, key, method="HEAD")
    await ask("unchanged", file, key, head={"If-None-Match": found.head["ETag"]})
    await ask("only if it is another", file, key, head={"If-Match": '"another"'})
    await ask("a part", file, key, head={"Range": "bytes=0-3"}, shown=digest)
    await ask("no such part", file, key, head={"Range": "bytes=99999999-"})
    await ask("not known", f"{releases}/latest/files/none.parquet", key)
    await ask("without a credential", file)
    await ask("without a header", signed)
    await ask("a part", signed, head={"Range": "bytes=0-3"}, shown=digest)
    await ask("changed", signed.replace("expires=1", "expires=2"))
    await ask("with another end", re.sub(r"expires=\d+", "expires=1000000000", signed))
    await ask("without its parameters", signed.partition("?")[0])
    for dataset in ("items", "impacts", "brands", "categories", "merged"):
        await ask(f"of {dataset}", f"/v1/index/datasets/{dataset}/releases/latest", key)


def undated(text: str) -> str:
    """Hide what is another in each run: the parts of credentials, and milliseconds."""
    secret = r"IIXT\w{16}|\d{10}\.\w{10}\.\w{6}\.[\w-]{43}|(?<=key\": \")[\w-]{43}"
    return re.sub(r"\b1\d{12}\b", "{milliseconds}", re.sub(secret, "{secret}", text))


async def catalogues(asker: Asker) -> None:
    """The releases as a bucket and in the catalogues of DuckLake and Iceberg."""
    ask, key = asker.ask, asker.key("institutional")
    await ask("for a bucket", "/v1/org/data-credentials", key, method="POST", shown=undated)
    await ask("by a plan that has none", "/v1/org/data-credentials", asker.key("brand"), method="POST")
    await ask("without a credential", "/v1/org/data-credentials", method="POST")
    await ask("without a signature", "/releases?list-type=2")
    await ask("an expired address", "/releases/items/1/0000.parquet?X-Amz-Signature=x&X-Amz-Date=x")
    await ask("written to", "/releases/items/1/0000.parquet", method="PUT", body=b"x")
    catalogue = "/v1/catalog/ducklake/latest.ducklake"
    found = await ask("not recorded", catalogue, key, recorded=False)
    asker.recording.note(found.head["ETag"].strip('"'), "digest")
    await ask("unchanged", catalogue, key, head={"If-None-Match": found.head["ETag"]})
    await ask("without a credential", catalogue)
    tables = "/v1/iceberg/namespaces/releases/tables"
    await ask("one", "/v1/config?warehouse=x", key)
    await ask("without a credential", "/v1/config")
    await ask("all", "/v1/iceberg/namespaces", key)
    await ask("below another", "/v1/iceberg/namespaces?parent=releases", key)
    await ask("one", "/v1/iceberg/namespaces/releases", key)
    await ask("not known", "/v1/iceberg/namespaces/none", key)
    await ask("all", tables, key)
    await ask("one", f"{tables}/merged", key, shown=undated)
    await ask("not known", f"{tables}/none", key)
    await ask("several faults", f"{tables}/items?x=1&y=2", key)
    await ask("by a plan that has none", f"{tables}/items", asker.key("brand"))
    await ask("of a table", f"{tables}/items/credentials", key, shown=undated)


async def sharing(asker: Asker) -> None:
    """Delta Sharing."""
    ask, key = asker.ask, asker.key("institutional")
    bearer = {"Authorization": key["Authorization"].replace("ApiKey", "Bearer")}
    shares = "/v1/delta-sharing/shares"
    tables = f"{shares}/item-index/schemas/releases/tables"
    await ask("a profile", "/v1/delta-sharing/profile", key)
    await ask("all", shares, bearer)
    await ask("by a key as a key", shares, key)
    await ask("by a plan that has none", shares, asker.key("brand"))
    await ask("by an anonymous caller", shares, asker.anonymous)
    await ask("without a credential", shares)
    await ask("with a token that is none", shares, {"Authorization": "Bearer x"})
    await ask("one", f"{shares}/item-index", bearer)
    await ask("not known", f"{shares}/none", bearer)
    await ask("all", f"{shares}/item-index/schemas", bearer)
    page = await ask("a page", f"{tables}?maxResults=2", bearer)
    await ask("the next page", f"{tables}?maxResults=9&pageToken={page.json['nextPageToken']}", bearer)
    await ask("several faults", f"{tables}?maxResults=x&pageToken=y", bearer)
    await ask("all", f"{shares}/item-index/all-tables", bearer)
    newest = await ask("the newest", f"{tables}/items/version", bearer)
    await ask("since a moment", f"{tables}/items/version?startingTimestamp=2020-01-01T00:00:00Z", bearer)
    await ask("a moment that is none", f"{tables}/items/version?startingTimestamp=x", bearer)
    await ask("the newest", f"{tables}/observations/metadata", bearer)
    await ask("not known", f"{tables}/none/metadata", bearer)
    query: dict[str, Any] = {"method": "POST", "credential": bearer}
    await ask("all files", f"{tables}/observations/query", body={}, **query)
    await ask("with hints", f"{tables}/observations/query", body={"predicateHints": ["day >= '2021-05-01'"]}, **query)
    await ask("an older version", f"{tables}/observations/query", body={"version": 1, "limitHint": 1}, **query)
    await ask("several faults", f"{tables}/items/query", body={"version": "2", "limitHint": -1}, **query)
    await ask("not known", f"{tables}/items/query", body={"version": 99}, **query)
    versions = f"startingVersion=1&endingVersion={newest.head['Delta-Table-Version']}"
    await ask("from the first on", f"{tables}/items/changes?{versions}", bearer)
    await ask("without a version", f"{tables}/items/changes", bearer)


async def exports(asker: Asker) -> None:
    """Exports, from their order to their files."""
    ask, key = asker.ask, asker.key("institutional")
    order: dict[str, Any] = {"method": "POST", "path": "/v1/index/exports", "credential": key}
    prices = {"dataset": "observations", "format": "csv"}
    first = await ask("an order", body=prices, head={"Idempotency-Key": "one"}, **order)
    await ask("again", body=prices, head={"Idempotency-Key": "one"}, **order)
    await ask("another one with the same key", body={"dataset": "items"}, head={"Idempotency-Key": "one"}, **order)
    await ask("its price", body={"dataset": "items"}, **{**order, "path": "/v1/index/exports?dry_run=true"})
    narrow = {**prices, "columns": ["iid", "day", "price"], "filter": {"brand": ["vita"], "from": "2021-03-02"}}
    await ask("a preview", body=narrow, **{**order, "path": "/v1/index/exports?preview=true"})
    faults = {"columns": ["x"], "filter": {"brand": "none", "to": "x"}, "since": "1", "format": "xlsx", "sort": "iid"}
    await ask("several faults", body={"dataset": "observations", **faults}, **order)
    await ask("without a dataset", body={}, **order)
    await ask("by a plan that has none", body=prices, **{**order, "credential": asker.key("brand")})
    await ask("by an anonymous caller", body=prices, **{**order, "credential": asker.anonymous})
    export = f"/v1/index/exports/{first.json['id']}"
    await ask("one that waits", export, key)
    await ask("of one that waits", f"{export}/files/observations-00001.csv", key)
    await asyncio.to_thread(make_exports, asker.settings)
    done = await ask("one that is done", export, key)
    [file] = done.json["manifest"]["files"]
    whole, signed = path_of(file["url"]), path_of(file["signed_url"])
    found = await ask("whole", whole, key)
    await ask("head", whole, key, method="HEAD")
    await ask("unchanged", whole, key, head={"If-None-Match": found.head["ETag"]})
    await ask("only if it is another", whole, key, head={"If-Match": '"another"'})
    await ask("a part", whole, key, head={"Range": "bytes=0-99"})
    await ask("no such part", whole, key, head={"Range": "bytes=999999-"})
    await ask("not known", f"{export}/files/observations-00002.csv", key)
    await ask("without a header", signed)
    await ask("changed", signed.replace("expires=1", "expires=2"))
    await ask("of an export", f"/v1/jobs/{first.json['id']}/result", key)
    await ask("of an export", f"/v1/jobs/{first.json['id']}/events", key)
    for form, compression in (("ndjson", "gzip"), ("parquet", "zstd"), ("arrow", "none")):
        made = await ask(f"as {form}", body={**narrow, "format": form, "compression": compression}, **order)
        await asyncio.to_thread(make_exports, asker.settings)
        answer = await ask(f"as {form}", f"/v1/index/exports/{made.json['id']}", key)
        [file] = answer.json["manifest"]["files"]
        await ask(f"as {form}", path_of(file["url"]), key)
    page = await ask("the first page", "/v1/index/exports?limit=2", key)
    await ask("the next page", f"/v1/index/exports?limit=2&cursor={page.json['next_cursor']}", key)
    await ask("several faults", "/v1/index/exports?state=x&limit=0", key)
    await ask("another organization's", export, asker.key("institutional"))
    await ask("not known", "/v1/index/exports/nonsense", key)
    await ask("one that is done", export, key, method="DELETE")
    await ask("not known", f"/v1/index/exports/{NO_UUID}", key, method="DELETE")
    await ask("one whose files are deleted", export, key)
    await ask("deleted", whole, key)


async def organizations(asker: Asker) -> None:
    """People, organizations and keys."""
    ask, ada, bob = asker.ask, asker.person("ada"), asker.person("bob")
    post, org = {"method": "POST"}, "/v1/org"
    await ask("without one", org, ada)
    await ask("without a credential", org)
    await ask("by a key", org, asker.key("brand"))
    await ask("several faults", org, ada, body={"name": "", "plan": 1, "more": 1}, **post)
    await ask("a plan that operators give", org, ada, body={"name": "Acme", "plan": "institutional"}, **post)
    await ask("a new one", org, ada, body={"name": "Acme", "plan": "free"}, head={"Idempotency-Key": "acme"}, **post)
    await ask(
        "the same again", org, ada, body={"name": "Acme", "plan": "free"}, head={"Idempotency-Key": "acme"}, **post
    )
    issued = await ask("the first", f"{org}/api-key", ada, **post)
    await ask("a second", f"{org}/api-key", ada, **post)
    rotated = await ask("with a grace", f"{org}/api-key/rotations", ada, body={"grace": "1h"}, **post)
    await ask("a grace that is none", f"{org}/api-key/rotations", ada, body={"grace": "2h"}, **post)
    await ask("a key that leaked", f"{org}/api-key/revocations", body={"key": issued.json["key"]}, **post)
    await ask("no key", f"{org}/api-key/revocations", body={"key": "x"}, **post)
    key = {"Authorization": f"ApiKey {rotated.json['key']}"}
    await ask("a call of the key", "/v1/index/brands?limit=1", key)
    await ask("its organization", org, ada)
    await ask("another plan", f"{org}/plan-requests", ada, body={"plan": "brand"}, **post)
    await ask("a plan that operators give", f"{org}/plan-requests", ada, body={"plan": "institutional"}, **post)
    await ask("no such plan", f"{org}/plan-requests", ada, body={"plan": "none"}, **post)
    await ask("several faults", f"{org}/invitations", ada, body={"email": "x", "role": "owner"}, **post)
    invited = await ask(
        "a person", f"{org}/invitations", ada, body={"email": "bob@example.org", "role": "viewer"}, **post
    )
    await ask("another", f"{org}/invitations", ada, body={"email": "eve@example.org", "role": "member"}, **post)
    listed = await ask("all", f"{org}/invitations", ada)
    other = next(one["id"] for one in listed.json["data"] if one["email"] == "eve@example.org")
    await ask("one", f"{org}/invitations/{other}", ada, method="DELETE")
    await ask("not known", f"{org}/invitations/{NO_UUID}", ada, method="DELETE")
    visitor = Browser(asker.edge, asker.issuer)
    await visitor.sign_in("bob")
    await visitor.ask("GET", "/dashboard/invitation")
    form = visitor.form(secret=invited.json["link"].partition("#")[2])
    assert await visitor.ask("POST", "/dashboard/invitation", form) == 303
    asker.edge.resources.users.invalidate()
    members = await ask("all", f"{org}/members", ada)
    person = next(one["id"] for one in members.json["data"] if one["role"] == "viewer")
    await ask("by a viewer", f"{org}/api-key/rotations", bob, **post)
    await ask("by a viewer", f"{org}/members", bob)
    await ask("another role", f"{org}/members/{person}", ada, method="PATCH", body={"role": "member"})
    await ask("a role that is none", f"{org}/members/{person}", ada, method="PATCH", body={"role": "king"})
    await ask("by one who may not", f"{org}/members/{person}", bob, method="PATCH", body={"role": "admin"})
    await ask("one", f"{org}/members/{person}", ada, method="DELETE")
    await ask("not known", f"{org}/members/{NO_UUID}", ada, method="DELETE")
    await asker.edge.resources.usage.flush()
    await ask("of the last days", f"{org}/usage", ada)
    await ask("as CSV", f"{org}/usage?format=csv", ada)
    await ask("several faults", f"{org}/usage?from=x&to=2021-02-30&format=xml", ada)
    await ask("another organization's", f"{org}/usage?organization={NO_UUID}", ada)
    page = await ask("the first page", f"{org}/audit?limit=3", ada)
    await ask("the next page", f"{org}/audit?limit=3&cursor={page.json['next_cursor']}", ada)
    await ask("several faults", f"{org}/audit?limit=0&cursor=x", ada)
    await ask("all", f"{org}/api-key", ada, method="DELETE")
    await ask("by a key that was revoked", "/v1/quota", key)


async def events(asker: Asker) -> None:
    """Watches, webhooks, and the feed of events."""
    ask, key, free = asker.ask, asker.key("brand"), asker.key("free")
    post: dict[str, Any] = {"method": "POST", "credential": key}
    below = {
        "target": "article",
        "code": SOY,
        "condition": "below",
        "amount": "9.95",
        "currency": "HKD",
        "label": "Soy",
    }
    made = await ask("below an amount", "/v1/watches", body=below, head={"Idempotency-Key": "soy"}, **post)
    await ask("the same again", "/v1/watches", body=below, head={"Idempotency-Key": "soy"}, **post)
    for more in (
        {"target": "brand", "code": "vita", "condition": "returned", "days": 30},
        {"target": "category", "code": "drinks", "condition": "index-moved", "percent": 5, "currency": "HKD"},
        {"target": "article", "code": TEA, "condition": "new-low", "days": 30, "currency": "HKD"},
    ):
        await ask(str(more["condition"]), "/v1/watches", body=more, **post)
    faults = {"target": "shop", "condition": "below", "amount": "0", "currency": "XXX", "more": 1}
    await ask("several faults", "/v1/watches", body=faults, **post)
    await ask("an item that is not known", "/v1/watches", body={**below, "code": UNKNOWN}, **post)
    await ask("by a free plan", "/v1/watches", free)
    await ask("by an anonymous caller", "/v1/watches", asker.anonymous)
    watch = f"/v1/watches/{made.json['id']}"
    await ask("one", watch, key)
    page = await ask("the first page", "/v1/watches?limit=3", key)
    await ask("the next page", f"/v1/watches?limit=3&cursor={page.json['next_cursor']}", key)
    await ask("paused", watch, key, method="PATCH", body={"paused": True})
    await ask("resumed", watch, key, method="PATCH", body={"paused": False})
    await ask("a fault", watch, key, method="PATCH", body={"paused": 1})
    for path in (f"/v1/watches/{NO_UUID}", f"/v1/webhooks/{NO_UUID}"):
        await ask("not known", path, key)
    with receiver() as there:
        asker.recording.note(there.url, "address of a receiver")
        hook = await ask("a new one", "/v1/webhooks", body={"url": there.url}, head={"Idempotency-Key": "hook"}, **post)
        await ask("the same again", "/v1/webhooks", body={"url": there.url}, head={"Idempotency-Key": "hook"}, **post)
        wanted = {"url": "https://example.org/hook", "types": ["export.ready", "watch.fired"]}
        second = await ask("of some types", "/v1/webhooks", body=wanted, **post)
        await ask("several faults", "/v1/webhooks", body={"url": "ftp://x", "types": ["x"], "more": 1}, **post)
        await ask("by a free plan", "/v1/webhooks", free)
        webhook = f"/v1/webhooks/{hook.json['id']}"
        row = f"1,{GTIN},Soy milk 1L,Vita,Drinks,Soy milk,1.0,2021-05-04,NORTH,9.90,\n"
        text = mapping_of("shop_a")
        await asyncio.to_thread(load_rows, asker.settings, asker.folder, row, text=text, header=HEADER, name="may.csv")
        await asker.until("/v1/ready", {}, lambda ready: ready["data_version"] == AFTER_THE_LAST_LOAD)
        # Events of a load are seen once everything has ended that was going on when it did.
        await asker.until("/v1/events", key, lambda feed: "watch.fired" in {event["type"] for event in feed["data"]})
        feed = await ask("all", "/v1/events", key)
        await ask("of a type", "/v1/events?type=watch.fired&limit=1", key)
        await ask("several faults", "/v1/events?after=x&limit=0&type=none", key)
        await ask("by an anonymous caller", "/v1/events", asker.anonymous)
        await ask("all", "/v1/watches/events?after=0", key)
        await ask("a fault", "/v1/watches/events?after=-1", key)
        await send(asker.settings)
        for number, (head, body) in enumerate(there.calls):
            sent = [(name, value) for name, value in head.items() if name != "host"]
            asker.recording.add(f"delivery {number + 1}", ["POST {address of a receiver}"], 204, sent, body)
        await ask("all", f"{webhook}/attempts", key)
        await ask("several faults", f"{webhook}/attempts?limit=0&x=1", key)
        await ask("by a range", f"{webhook}/replays", body={"after": 0}, **post)
        await ask("by an id", f"{webhook}/replays", body={"event": feed.json["data"][0]["id"]}, **post)
        await ask("nothing named", f"{webhook}/replays", body={}, **post)
        await ask("a secret", f"{webhook}/rotations", **post)
        await ask("for now", f"{webhook}/deactivations", **post)
        await ask("again", f"{webhook}/activations", **post)
        await ask("one", webhook, key)
        await ask("all", "/v1/webhooks", key)
        await ask("another organization's", webhook, asker.key("brand"))
        await ask("one", f"/v1/webhooks/{second.json['id']}", key, method="DELETE")
        await ask("again", f"/v1/webhooks/{second.json['id']}", key, method="DELETE")
    await ask("one", watch, key, method="DELETE", head={"Idempotency-Key": "end"})
    await ask("again", watch, key, method="DELETE", head={"Idempotency-Key": "end"})
    await ask("not known", watch, key)


async def mcp(asker: Asker) -> None:
    """The Model Context Protocol."""
    key = asker.key("brand")

    async def ask(title: str, method: str, credential: Head, params: Any = None, version: str = STATELESS) -> None:
        answer = await Mcp(asker.edge, dict(credential), version).ask(method, params)
        lines = [f"POST /mcp: {method} ({version})", json.dumps(params, ensure_ascii=False)]
        asker.recording.add(title, lines, answer.status, answer.head.items(), answer.body)

    await ask("a handshake", "initialize", {}, {"protocolVersion": HANDSHAKE, "capabilities": {}}, HANDSHAKE)
    await ask("a sign of life", "ping", {}, None, HANDSHAKE)
    await ask("what it can", "server/discover", {})
    await ask("the tools", "tools/list", {})
    for tool, arguments in (
        ("how_am_i_counted", {}),
        ("get_item", {"iid": SOY}),
        ("get_item", {"iid": UNKNOWN}),
        ("get_item", {"iid": 1, "more": 2}),
        ("find_items", {"q": "milk", "limit": 1}),
        ("no_such_tool", {}),
    ):
        await ask(f"a call of {tool}", "tools/call", key, {"name": tool, "arguments": arguments})
    await ask("a call without a credential", "tools/call", {}, {"name": "get_item", "arguments": {"iid": SOY}})
    await ask("no such method", "no/such", {})
    answer = await Mcp(asker.edge, {}).post(b"{")
    asker.recording.add("no JSON", ["POST /mcp", "", "{"], answer.status, answer.head.items(), answer.body)


async def reconciliation(asker: Asker) -> None:
    """Tables matched with the index. What a worker matches has tests of its own."""
    ask, key = asker.ask, asker.key("brand")
    at = "/v1/reconcile"
    await ask("what it offers", at)
    queries = {"a": {"query": SOY}, "b": {"query": "vita", "type": "brand"}, "c": {"query": "Milk", "type": "category"}}
    await ask("an IID, a brand and a category", at, key, method="POST", body={"queries": queries})
    columns = [{"id": "name"}, {"id": "price"}]
    await ask("columns", at, key, method="POST", body={"extend": {"ids": [SOY, UNKNOWN], "properties": columns}})
    await ask("a property that there is not", at, key, method="POST", body={"extend": {"ids": [], "properties": [{}]}})
    await ask("neither", at, key, method="POST", body={})
    await ask("without a credential", at, method="POST", body={"queries": queries})
    await ask("entities", f"{at}/suggest/entity?prefix=vi", key)
    await ask("properties", f"{at}/suggest/property?prefix=g", key)
    await ask("types", f"{at}/suggest/type?prefix=", key)
    await ask("of items", f"{at}/properties?type=item&limit=2", key)
    address = await ask("not recorded", f"{at}/address", key, recorded=False)
    asker.recording.note(address.json["url"].rpartition("/")[2], "credential of the path")
    await ask("for tools that send no headers", f"{at}/address", key)


async def metrics(asker: Asker) -> None:
    """What operators measure: names and labels. Their values are of the process, not of a caller."""
    answer = await asker.ask("not recorded", "/metrics", recorded=False)
    declared = re.findall(r"^# TYPE (itemindex_\w+) (\w+)$", answer.body.decode(), re.MULTILINE)
    labels = {metric._name: metric._labelnames for metric in vars(telemetry).values() if hasattr(metric, "_labelnames")}
    lines = [
        f"{name} {kind} {' '.join(labels[name.removesuffix('_total')])}".rstrip()
        for name, kind in declared
        if not name.endswith("_created")
    ]
    head = [(name, value) for name, value in answer.head.items() if name != "Content-Length"]
    asker.recording.add("names", ["GET /metrics"], answer.status, head, "\n".join(lines).encode())


# Each has organizations and an address of its own. The last one's load makes the data another version.
SUBJECTS = (service, pages, index, digital_link, analytics, reports, jobs, datasets, catalogues, sharing, exports)
SUBJECTS += (organizations, reconciliation, mcp, metrics, events)


async def recorded(settings: Settings, folder: Path) -> dict[str, str]:
    """Ask everything; return the texts of the record."""
    async with running_issuer() as issuer:
        chosen = replace(settings, oidc_issuer=issuer.url, staff="grace@example.org", webhook_private_addresses=True)
        async with running_edge(chosen, folder) as edge:
            recording = Recording({issuer.url: "{issuer}", quote(issuer.url, safe=""): "{issuer, quoted}"})
            asker = Asker(edge, issuer, recording, folder)
            for number, subject in enumerate(SUBJECTS, 1):
                asker.begin(subject.__name__, number)
                await subject(asker)
    return recording.texts()


async def test_every_answer_is_as_it_is_recorded(settings: Settings, tmp_path: Path) -> None:
    differences = compare(await recorded(settings, tmp_path), RECORD)
    assert not differences, "\n".join(
        ["`python -m tests.service.http.test_recorded_answers` records anew:", *differences]
    )


def test_every_operation_has_a_recorded_answer() -> None:
    text = "\n".join(path.read_text() for path in RECORD.glob("*.txt"))
    answered = set(re.findall(r"^#### (\w+) [23]\d\d: ", text, re.MULTILINE))
    missing = sorted(OPERATIONS.keys() - answered)
    assert not missing, f"add requests here that {', '.join(missing)} answers, and record anew"


def test_every_problem_has_an_example_that_is_recorded_or_declared() -> None:
    recorded_ones = problem_examples({path.stem: path.read_text(encoding="utf-8") for path in RECORD.glob("*.txt")})
    assert json.loads(PROBLEMS.read_text(encoding="utf-8")) == recorded_ones
    declared = {slug for slug, entry in CATALOGUE.items() if entry.request and entry.example}
    assert declared.isdisjoint(recorded_ones)
    assert declared | recorded_ones.keys() == CATALOGUE.keys()


def main() -> None:
    """Write the record anew, and with it the examples of the problems' pages."""
    with folder_in_memory() as name, Servers.running(name) as servers:
        with servers.fresh(contents=small_index) as settings:
            texts = asyncio.run(recorded(settings, name))
    rewrite(texts, RECORD)
    PROBLEMS.write_text(json.dumps(problem_examples(texts), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
