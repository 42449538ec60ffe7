"""Samples of calls with the clients of deploy/clients, for the operations that these have a method for. Pure."""

from typing import NamedTuple


class Sample(NamedTuple):
    """The lines of a call for each client; `client` exists already."""

    python: str
    typescript: str


SAMPLES = {
    "searchItems": Sample(
        'for hit in client.search("soy milk"):\n    print(hit["iid"], hit["name"])',
        'for await (const hit of client.search("soy milk")) console.log(hit.iid, hit.name);',
    ),
    "lookupItem": Sample(
        'print(client.lookup("IID-99D2F-46WJ3-4S6N3"))',
        'console.log(await client.lookup("IID-99D2F-46WJ3-4S6N3"));',
    ),
    "lookupItemsByBody": Sample(
        'print(client.lookup_many(["IID-99D2F-46WJ3-4S6N3"]))',
        'console.log(await client.lookupMany(["IID-99D2F-46WJ3-4S6N3"]));',
    ),
    "resolveIdentifier": Sample(
        'print(client.resolve(sku="P000000425", source="hk_pricewatch"))',
        'console.log(await client.resolve({ sku: "P000000425", source: "hk_pricewatch" }));',
    ),
    "listBrands": Sample(
        'for brand in client.brands(q="vita"):\n    print(brand["slug"], brand["name"])',
        'for await (const brand of client.brands({ q: "vita" })) console.log(brand.slug, brand.name);',
    ),
    "listCategories": Sample(
        'for category in client.categories():\n    print(category["code"])',
        "for await (const category of client.categories()) console.log(category.code);",
    ),
    "listChannels": Sample(
        'for channel in client.channels():\n    print(channel["code"])',
        "for await (const channel of client.channels()) console.log(channel.code);",
    ),
    "getQuota": Sample("print(client.quota())", "console.log(await client.quota());"),
    "getPricing": Sample(
        'print(client.prices("IID-99D2F-46WJ3-4S6N3").rows)',
        'console.log((await client.prices("IID-99D2F-46WJ3-4S6N3")).data);',
    ),
    "getPriorPrice": Sample(
        'print(client.prior_price("IID-99D2F-46WJ3-4S6N3").rows)',
        'console.log((await client.priorPrice("IID-99D2F-46WJ3-4S6N3")).data);',
    ),
    "getSustainability": Sample(
        'print(client.sustainability("IID-99D2F-46WJ3-4S6N3").rows)',
        'console.log((await client.sustainability("IID-99D2F-46WJ3-4S6N3")).data);',
    ),
    "getCohorts": Sample(
        'print(client.report.cohorts(brand="vitasoy").wait().rows)',
        'console.log((await client.report.cohorts({ brand: ["vitasoy"] }).wait()).data);',
    ),
    "listCategoryInsights": Sample(
        "print(client.report.category_insights().wait().rows)",
        "console.log((await client.report.categories().wait()).data);",
    ),
    "getCategoryInsights": Sample(
        'print(client.report.category_insights("drinks").wait().rows)',
        'console.log((await client.report.category("drinks").wait()).data);',
    ),
    "listBrandInsights": Sample(
        "print(client.report.brand_insights().wait().rows)",
        "console.log((await client.report.brands().wait()).data);",
    ),
    "getBrandInsights": Sample(
        'print(client.report.brand_insights("vitasoy").wait().rows)',
        'console.log((await client.report.brand("vitasoy").wait()).data);',
    ),
    "getPriceIndex": Sample(
        'print(client.report.price_index(brand="vitasoy").wait().rows)',
        'console.log((await client.report.priceIndex({ brand: ["vitasoy"] }).wait()).data);',
    ),
    "getReductions": Sample(
        "print(client.report.reductions().wait().rows)",
        "console.log((await client.report.reductions().wait()).data);",
    ),
    "getSustainabilityRollup": Sample(
        "print(client.report.sustainability_rollup().wait().rows)",
        "console.log((await client.report.sustainability().wait()).data);",
    ),
    "listJobs": Sample(
        'for job in client.jobs():\n    print(job["id"], job["state"])',
        "for await (const job of client.jobs()) console.log(job.id, job.state);",
    ),
    "listEvents": Sample(
        'for event in client.events():\n    print(event["cursor"], event["type"])',
        "for await (const event of client.events()) console.log(event.cursor, event.type);",
    ),
    "createExport": Sample(
        'print(client.export(dataset="brands", format="csv"))',
        'console.log(await client.export({ dataset: "brands", format: "csv" }));',
    ),
    "getManifest": Sample(
        'client.release("observations").download("data")',
        'await download(await client.release("observations"), "data");',
    ),
}


def python(operation: str, url: str) -> str | None:
    """Return a whole program of Python for an operation, or None."""
    sample = SAMPLES.get(operation)
    if sample is None:
        return None
    lines = sample.python.replace("\n", "\n    ")
    return f'from itemindex_client import Client\n\nwith Client("{url}") as client:  # ITEMINDEX_KEY\n    {lines}'


def typescript(operation: str, url: str) -> str | None:
    """Return a whole program of TypeScript for an operation, or None."""
    sample = SAMPLES.get(operation)
    if sample is None:
        return None
    disk = 'import { download } from "itemindex-client/node";\n' if "download(" in sample.typescript else ""
    return (
        f'import {{ Client }} from "itemindex-client";\n{disk}\n'
        f'const client = new Client({{ url: "{url}" }}); // ITEMINDEX_KEY\n{sample.typescript}'
    )
