"""Samples of calls with the clients, for the operations for which they have a method."""

import json
import re
from collections.abc import Mapping
from functools import cache
from string import ascii_lowercase
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from marshmallow import fields

from edge.analytics.reports.declaration import ReportEndpoint
from edge.analytics.reports.declared import REPORTS
from edge.http.validation import fields_by_name

# The example of a parameter whose schema names none.
EXAMPLES: dict[str, Any] = {
    "iid": "IID-99D2F-46WJ3-4S6N3",
    "brand": "vitasoy",
    "category": "drinks",
    "channel": "wellcome",
    "q": "soy milk",
    "gtin": "04006381333931",
    "release": "latest",
    "slug": "not-found",
}
# What the parameter in the path of a report names.
_NAMED_BY = {"slug": "brand", "code": "category"}


class ClientSample(NamedTuple):
    """The lines of a call for each client; `client` exists already."""

    python: str
    typescript: str


def report_method(operation: str) -> str:
    """Return the name of a report in both clients: of `getCategoryInsights` it is `categoryInsights`."""
    name = operation.lstrip(ascii_lowercase)
    return name[0].lower() + name[1:]


def snake(name: str) -> str:
    """Return a name as Python writes it: `categoryInsights` is `category_insights`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


@cache
def report_examples() -> Mapping[str, Mapping[str, str]]:
    """Return the parameters of each report's example, in its path and its query, by operation."""
    return {endpoint.operation: _example_of(endpoint) for report in REPORTS for endpoint in report.endpoints}


def _example_of(endpoint: ReportEndpoint) -> dict[str, str]:
    name = endpoint.path_parameter
    query = dict(parse_qsl((endpoint.example or "").partition("?")[2].format(**EXAMPLES)))
    return ({name: EXAMPLES[_NAMED_BY[name]]} if name else {}) | query


def _sample_of(endpoint: ReportEndpoint) -> ClientSample:
    """Return the sample of a report, whose arguments are those of its example."""
    method = report_method(endpoint.operation)
    asked = _example_of(endpoint)
    one = [json.dumps(asked.pop(endpoint.path_parameter))] if endpoint.path_parameter else []
    declared = fields_by_name(endpoint.query())
    members = (
        f"{field}: [{json.dumps(value)}]"
        if isinstance(declared[field], fields.List)
        else f"{field}: {json.dumps(value)}"
        for field, value in asked.items()
    )
    python = ", ".join([*one, *(f"{field}={json.dumps(value)}" for field, value in asked.items())])
    typescript = ", ".join([*one, *([f"{{ {', '.join(members)} }}"] if asked else [])])
    return ClientSample(
        f"print(client.report.{snake(method)}({python}).wait().rows)",
        f"console.log((await client.report.{method}({typescript}).wait()).data);",
    )


_SAMPLES = {
    "searchItems": ClientSample(
        'for hit in client.search("soy milk"):\n    print(hit["iid"], hit["name"])',
        'for await (const hit of client.search("soy milk")) console.log(hit.iid, hit.name);',
    ),
    "lookupItem": ClientSample(
        'print(client.lookup("IID-99D2F-46WJ3-4S6N3"))',
        'console.log(await client.lookup("IID-99D2F-46WJ3-4S6N3"));',
    ),
    "lookupItemsByBody": ClientSample(
        'print(client.lookup_many(["IID-99D2F-46WJ3-4S6N3"]))',
        'console.log(await client.lookupMany(["IID-99D2F-46WJ3-4S6N3"]));',
    ),
    "resolveIdentifier": ClientSample(
        'print(client.resolve(sku="P000000425", source="hk_pricewatch"))',
        'console.log(await client.resolve({ sku: "P000000425", source: "hk_pricewatch" }));',
    ),
    "resolveIdentifiers": ClientSample(
        'print(client.resolve_many([{"gtin": "04006381333931"}]))',
        'console.log(await client.resolveMany([{ gtin: "04006381333931" }]));',
    ),
    "listBrands": ClientSample(
        'for brand in client.brands(q="vita"):\n    print(brand["slug"], brand["name"])',
        'for await (const brand of client.brands({ q: "vita" })) console.log(brand.slug, brand.name);',
    ),
    "listCategories": ClientSample(
        'for category in client.categories():\n    print(category["code"])',
        "for await (const category of client.categories()) console.log(category.code);",
    ),
    "listChannels": ClientSample(
        'for channel in client.channels():\n    print(channel["code"])',
        "for await (const channel of client.channels()) console.log(channel.code);",
    ),
    "getQuota": ClientSample("print(client.quota())", "console.log(await client.quota());"),
    "getPricing": ClientSample(
        'print(client.prices("IID-99D2F-46WJ3-4S6N3").rows)',
        'console.log((await client.prices("IID-99D2F-46WJ3-4S6N3")).data);',
    ),
    "getPriorPrice": ClientSample(
        'print(client.prior_price("IID-99D2F-46WJ3-4S6N3").rows)',
        'console.log((await client.priorPrice("IID-99D2F-46WJ3-4S6N3")).data);',
    ),
    "getSustainability": ClientSample(
        'print(client.sustainability("IID-99D2F-46WJ3-4S6N3").rows)',
        'console.log((await client.sustainability("IID-99D2F-46WJ3-4S6N3")).data);',
    ),
    "listJobs": ClientSample(
        'for job in client.jobs():\n    print(job["id"], job["state"])',
        "for await (const job of client.jobs()) console.log(job.id, job.state);",
    ),
    "listEvents": ClientSample(
        'for event in client.events():\n    print(event["cursor"], event["type"])',
        "for await (const event of client.events()) console.log(event.cursor, event.type);",
    ),
    "createExport": ClientSample(
        'print(client.export(dataset="brands", format="csv"))',
        'console.log(await client.export({ dataset: "brands", format: "csv" }));',
    ),
    "getManifest": ClientSample(
        'client.release("observations").download("data")',
        'await download(await client.release("observations"), "data");',
    ),
}


@cache
def samples() -> Mapping[str, ClientSample]:
    """Return the samples by operation; only the page of the reference needs them."""
    reports = {endpoint.operation: _sample_of(endpoint) for report in REPORTS for endpoint in report.endpoints}
    return _SAMPLES | reports


def python_sample(operation: str, url: str, install: str) -> str | None:
    """Return a whole program of Python for an operation, or None; its first line says how to install the client."""
    sample = samples().get(operation)
    if sample is None:
        return None
    lines = sample.python.replace("\n", "\n    ")
    client = f'with Client("{url}") as client:  # ITEMINDEX_KEY'
    return f"# {install}\nfrom itemindex_client import Client\n\n{client}\n    {lines}"


def typescript_sample(operation: str, url: str, install: str) -> str | None:
    """Return a whole program of TypeScript for an operation, or None; its first line is as in Python."""
    sample = samples().get(operation)
    if sample is None:
        return None
    disk = 'import { download } from "itemindex-client/node";\n' if "download(" in sample.typescript else ""
    return (
        f'// {install}\nimport {{ Client }} from "itemindex-client";\n{disk}\n'
        f'const client = new Client({{ url: "{url}" }}); // ITEMINDEX_KEY\n{sample.typescript}'
    )
