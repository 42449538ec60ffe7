"""Files for programs: the clients as packages that pip and npm install, the contract with samples of calls, assets.

`make clients` writes the packages; no tool that builds them is needed where the service runs.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec
import yaml
from aiohttp import web
from marshmallow import fields

from edge.analytics.report_declarations import REPORTS, Endpoint
from edge.docs.document import Document
from edge.docs.guides import MARKDOWN, DocumentPage, render
from edge.http.html import HTML, PAGES
from edge.http.parameters import fields_by_name
from edge.http.problems import Problem
from edge.http.representation import MadeOnce, Representation
from edge.http.routing import operation

PACKAGES = Path(__file__).with_name("packages")
[WHEEL], [TARBALL] = ([path.name for path in PACKAGES.iterdir() if path.suffix == kind] for kind in (".whl", ".tgz"))
_LANGUAGES = {WHEEL: "Python", TARBALL: "TypeScript"}
_PACKAGE_TYPES = {WHEEL: "application/zip", TARBALL: "application/gzip"}


def install_commands(base_url: str) -> dict[str, str]:
    """Return the command that installs each client from this service, by its language."""
    return {
        "Python": f"pip install {base_url}/clients/{WHEEL}",
        "TypeScript": f"npm install {base_url}/clients/{TARBALL}",
    }


class Clients:
    def __init__(self, base_url: str) -> None:
        self._base = f"{base_url}/clients"
        self._commands = install_commands(base_url)
        self._page = MadeOnce(self._make)
        self._files = {name: MadeOnce(partial(_package, name)) for name in _LANGUAGES}

    async def list(self, request: web.Request) -> web.StreamResponse:
        """Answer with the packages, and how each is installed."""
        return (await self._page.get()).respond(request)

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Answer with a package."""
        made = self._files.get(request.match_info["file"])
        if made is None:
            raise Problem("not-found", f"There is no such file; {self._base}/ lists them.")
        return (await made.get()).respond(request)

    def _make(self) -> DocumentPage:
        entries = [self._entry(name, language) for name, language in _LANGUAGES.items()]
        text = PAGES.text("clients.md", entries=entries, base_url=self._base.removesuffix("/clients"))
        return DocumentPage(
            Representation.of(PAGES.text("clients.html", page=render(text)), HTML),
            Representation.of(text, MARKDOWN),
            Representation.of(msgspec.json.encode({"data": entries, "count": len(entries)}), "application/json"),
        )

    def _entry(self, name: str, language: str) -> dict[str, str | int]:
        content = (PACKAGES / name).read_bytes()
        return {
            "language": language,
            "file": name,
            "version": name.split("-")[1 if language == "Python" else -1].removesuffix(".tgz"),
            "url": f"{self._base}/{name}",
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "install": self._commands[language],
        }


def _package(name: str) -> Representation:
    content = (PACKAGES / name).read_bytes()
    # Packages are compressed already.
    return Representation(content, b"", _PACKAGE_TYPES[name], f'"{hashlib.sha256(content).hexdigest()}"')


class Sample(NamedTuple):
    """The lines of a call for each client; `client` exists already."""

    python: str
    typescript: str


# The example of a parameter whose schema names none.
_EXAMPLES: dict[str, Any] = {
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


def report_method(operation: str) -> str:
    """Return the name of a report in both clients: of `getCategoryInsights` it is `categoryInsights`."""
    name = operation.lstrip(ascii_lowercase)
    return name[0].lower() + name[1:]


def snake(name: str) -> str:
    """Return a name as Python writes it: `categoryInsights` is `category_insights`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _sample_of(endpoint: Endpoint) -> Sample:
    """Return the sample of a report, whose arguments are those of its example."""
    method, named = report_method(endpoint.operation), {name: _EXAMPLES[name] for name in ("brand", "category")}
    one = [json.dumps(named[_NAMED_BY[endpoint.path_parameter]])] if endpoint.path_parameter else []
    asked = parse_qsl((endpoint.example or "").format(**named).partition("?")[2])
    declared = fields_by_name(endpoint.query())
    members = (
        f"{field}: [{json.dumps(value)}]"
        if isinstance(declared[field], fields.List)
        else f"{field}: {json.dumps(value)}"
        for field, value in asked
    )
    python = ", ".join([*one, *(f"{field}={json.dumps(value)}" for field, value in asked)])
    typescript = ", ".join([*one, *([f"{{ {', '.join(members)} }}"] if asked else [])])
    return Sample(
        f"print(client.report.{snake(method)}({python}).wait().rows)",
        f"console.log((await client.report.{method}({typescript}).wait()).data);",
    )


_SAMPLES = {
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
    "resolveIdentifiers": Sample(
        'print(client.resolve_many([{"gtin": "04006381333931"}]))',
        'console.log(await client.resolveMany([{ gtin: "04006381333931" }]));',
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


@cache
def samples() -> Mapping[str, Sample]:
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


# A call in curl, Python and TypeScript for each operation of the OpenAPI document. Pure. They are for the reference
# page only, under the member `x-codeSamples` that such pages read; the published document stays small without them.


_KEY = "$ITEMINDEX_KEY"
_FALLBACK = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    url: str
    header: tuple[str, str] | None
    body: Any


def with_samples(document: dict[str, Any], base_url: str, token: str, commands: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of the document in which every operation has samples against `base_url`.

    `commands` install the clients, by their languages.
    """
    origin = base_url.removesuffix("/v1")
    paths = {
        path: {
            method: {
                **operation,
                "x-codeSamples": _samples(
                    _call(document, origin, path, method, operation, token),
                    operation["operationId"],
                    base_url,
                    commands,
                ),
            }
            for method, operation in operations.items()
        }
        for path, operations in document["paths"].items()
    }
    readable: dict[str, Any] = _readable({**document, "paths": paths})
    return readable


def _readable(value: Any) -> Any:
    """Return the document as people read it: no regular expression, and a response's other media types in words.

    The page would show a select for them inside a button, which neither a keyboard nor a screen reader can use.
    """
    if isinstance(value, list):
        return [_readable(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    readable = {name: _readable(one) for name, one in value.items() if not (name == "pattern" and isinstance(one, str))}
    content, description = value.get("content"), value.get("description")
    if isinstance(content, dict) and isinstance(description, str) and len(content) > 1:
        first, *others = content
        readable["content"] = {first: readable["content"][first]}
        readable["description"] = f"{description.removesuffix('.')}. Also available as {', '.join(others)}."
    return readable


def _call(
    document: dict[str, Any], origin: str, path: str, method: str, operation: dict[str, Any], token: str
) -> _Call:
    parameters = [_resolved(document, one) for one in operation.get("parameters", ())]
    for parameter in parameters:
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(_example(document, parameter)))
    query = {
        parameter["name"]: _example(document, parameter)
        for parameter in parameters
        if parameter["in"] == "query" and (parameter.get("required") or parameter["name"] in ("q", "limit"))
    }
    url = f"{origin}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
    return _Call(method.upper(), url, _credential(operation, token), _body(document, operation))


def _credential(operation: dict[str, Any], token: str) -> tuple[str, str] | None:
    schemes = {name for one in operation.get("security", ()) for name in one}
    if "PublicToken" in schemes:
        return "X-Service-Public-Token", token
    if "ApiKey" in schemes:
        return "Authorization", f"ApiKey {_KEY}"
    if schemes:
        return "Authorization", "Bearer $ID_TOKEN"
    return None


def _body(document: dict[str, Any], operation: dict[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    return content.get("example", _value(document, content["schema"], ""))


def _example(document: dict[str, Any], parameter: dict[str, Any]) -> Any:
    if "example" in parameter:
        return parameter["example"]
    return _EXAMPLES.get(parameter["name"], _value(document, parameter.get("schema", {}), parameter["name"]))


def _value(document: dict[str, Any], schema: dict[str, Any], name: str) -> Any:
    """Return a value that the schema allows, as far as its members say."""
    schema = _resolved(document, schema)
    for member in ("example", "default", "const"):
        if schema.get(member) is not None:
            return schema[member]
    for chosen in (schema.get("examples"), schema.get("enum")):
        if chosen:
            return chosen[0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else next((option for option in kinds if option != "null"), "string")
    if kind == "object":
        needed = schema.get("required", ())
        return {one: _value(document, schema["properties"][one], one) for one in needed}
    if kind == "array":
        return [_value(document, schema.get("items", {}), name)]
    if schema.get("format") == "uuid":
        return "019abcde-0000-7000-8000-000000000000"
    if schema.get("format") == "date":
        return "2026-01-31"
    return _FALLBACK.get(kind, schema.get("minimum", _EXAMPLES.get(name, name or "text")))


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    resolved = schema
    while "$ref" in resolved:
        target: Any = document
        for name in resolved["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        resolved = target
    return resolved


def _samples(call: _Call, operation: str, base_url: str, commands: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the samples; those in languages with a client of ours call it, where it has a method for the operation."""
    python = python_sample(operation, base_url, commands["Python"]) or _python(call)
    typescript = typescript_sample(operation, base_url, commands["TypeScript"]) or _typescript(call)
    return [
        {"lang": "Shell", "label": "curl", "source": _curl(call)},
        {"lang": "Python", "label": "Python", "source": python},
        {"lang": "TypeScript", "label": "TypeScript", "source": typescript},
    ]


def _curl(call: _Call) -> str:
    words = ["curl", *(["--request", call.method] if call.method != "GET" else [])]
    if call.header:
        # In double quotes, because a variable of the shell is filled in.
        words += ["--header", f'"{call.header[0]}: {call.header[1]}"']
    if call.body is not None:
        words += ["--json", shlex.quote(json.dumps(call.body, ensure_ascii=False))]
    return " ".join([*words, shlex.quote(call.url)])


def _python(call: _Call) -> str:
    lines = ["from os import environ\n" if _variable(call) else "", "import httpx", ""]
    arguments = [repr(call.method), repr(call.url)]
    if call.header:
        arguments.append(f"headers={{{call.header[0]!r}: {_in_python(call)}}}")
    if call.body is not None:
        arguments.append(f"json={call.body!r}")
    joined = ",\n    ".join(arguments)
    lines += [f"response = httpx.request(\n    {joined},\n)", "response.raise_for_status()", "print(response.text)"]
    return "\n".join(lines).lstrip("\n")


def _typescript(call: _Call) -> str:
    members = [f"method: {json.dumps(call.method)}"]
    if call.header:
        value = f"`{call.header[1].replace('$' + _variable(call), '${process.env.' + _variable(call) + '}')}`"
        more = ', "Content-Type": "application/json"' if call.body is not None else ""
        members.append(f"headers: {{ {json.dumps(call.header[0])}: {value}{more} }}")
    if call.body is not None:
        members.append(f"body: JSON.stringify({json.dumps(call.body, ensure_ascii=False)})")
    inner = ",\n  ".join(members)
    return (
        f"const response = await fetch({json.dumps(call.url)}, {{\n  {inner},\n}});\n"
        "if (!response.ok) throw new Error(await response.text());\n"
        "console.log(await response.text());"
    )


def _variable(call: _Call) -> str:
    """Name the environment variable that holds the credential; empty for the anonymous token, which is no secret."""
    if call.header is None or "$" not in call.header[1]:
        return ""
    return call.header[1].rpartition("$")[2]


def _in_python(call: _Call) -> str:
    assert call.header is not None
    name = _variable(call)
    if not name:
        return repr(call.header[1])
    scheme = call.header[1].partition(" ")[0]
    return f"f\"{scheme} {{environ['{name}']}}\""


FOLDER = Path(__file__).with_name("static")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


class StaticFiles:
    """The handler. The names of the files are fixed when the edge starts, so that no path leads anywhere else."""

    def __init__(self) -> None:
        files = [path for path in FOLDER.rglob("*") if path.suffix in _TYPES]
        self._made = {str(path.relative_to(FOLDER)): MadeOnce(partial(_read, path)) for path in files}

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Answer with a file."""
        made = self._made.get("/".join(request.match_info.values()))
        if made is None:
            raise Problem("not-found", "There is no such file.")
        return (await made.get()).respond(request)


def _read(path: Path) -> Representation:
    return Representation.of(path.read_bytes(), _TYPES[path.suffix])


_YAML = "application/yaml"
# PyYAML's own dumper takes a second for the document; libyaml's, where it is built in, a tenth of that.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_operation = partial(operation, "service")


class OpenApiFiles:
    """The handlers. Each form of the document is made once."""

    def __init__(self, document: Document, base_url: str, token: str) -> None:
        self._document = document
        self._base_url = base_url
        self._token = token
        self._as_json, self._as_yaml = MadeOnce(self._json), MadeOnce(self._yaml)
        self._with_samples = MadeOnce(self._json_with_samples)

    @_operation("getOpenApiJson")
    async def as_json(self, request: web.Request) -> web.StreamResponse:
        """OpenAPI 3.1 document in JSON.

        Needs no credential and costs nothing.
        """
        return (await self._as_json.get()).respond(request)

    @_operation("getOpenApiYaml", produces=[_YAML])
    async def as_yaml(self, request: web.Request) -> web.StreamResponse:
        """OpenAPI 3.1 document in YAML.

        Needs no credential and costs nothing.
        """
        return (await self._as_yaml.get()).respond(request)

    async def with_samples(self, request: web.Request) -> web.StreamResponse:
        """Answer with the document and a call in curl, Python and TypeScript for each operation."""
        return (await self._with_samples.get()).respond(request)

    def _json(self) -> Representation:
        return Representation.of(msgspec.json.encode(self._document.as_dict()), "application/json")

    def _yaml(self) -> Representation:
        document: dict[str, Any] = self._document.as_dict()
        text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
        return Representation.of(text, _YAML)

    def _json_with_samples(self) -> Representation:
        document = with_samples(self._document.as_dict(), self._base_url, self._token, install_commands(self._base_url))
        return Representation.of(msgspec.json.encode(document), "application/json")
