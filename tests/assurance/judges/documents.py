"""The judges of the OpenAPI document and of what describes releases: linters, validators and generators of clients.

What a generator makes must type-check strictly.
"""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from edge.bulk import descriptions
from edge.bulk.descriptions import Described
from shared.bulk.schema import DATASETS, KeptReleaseFile, schema_of
from tests.assurance.judges import reports
from tests.assurance.judges.findings import Finding, JudgeFailed
from tests.assurance.judges.programs import DOCUMENT, ENVIRONMENT, document, read, run, script, tool
from tests.support.client_packages.generate import COMPILED_FROM, PACKAGE

_HERE = Path(__file__).parent
_CALLERS = _HERE / "callers"
_STATISTICS = {"numRecords": 1, "minValues": {}, "maxValues": {}, "nullCount": {}}
_PROFILE = {
    "sources": [
        {"name": "a", "title": "A", "license": "https://a.example/terms", "url": None, "attribution": None},
        {"name": "b", "title": "B", "license": "CC-BY-4.0", "url": "https://b.example/", "attribution": "B, 2026"},
    ],
    "days": ["2026-07-01", "2026-07-31"],
    "missing_days": [["2026-07-04", "2026-07-05"]],
}
_STRICT = {
    "strict": True,
    "noEmit": True,
    "target": "ES2022",
    "module": "ESNext",
    "moduleResolution": "bundler",
    "lib": ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    "types": [],
}


def spectral(scratch: Path) -> list[Finding]:
    """Check the document by Spectral's rules for OpenAPI and by OWASP's."""
    rules = ENVIRONMENT / "rules.yaml"  # beside node_modules, where the rules of OWASP are found
    shutil.copy(_HERE / "node" / "rules.yaml", rules)
    report = scratch / "spectral.json"
    command = [*script("spectral"), "lint", str(document(scratch)), "-r", str(rules), "-f", "json", "-o", str(report)]
    run([*command, "--quiet"], 1)
    return reports.spectral(read(report), DOCUMENT)


def redocly(scratch: Path) -> list[Finding]:
    """Check the document by Redocly's rule set `recommended-strict`."""
    rules = scratch / "redocly.yaml"
    rules.write_text("extends: [recommended-strict]\n")
    command = [*script("redocly"), "lint", str(document(scratch)), "--config", str(rules), "--format", "json"]
    return reports.redocly(json.loads(run([*command, "--max-problems", "100000"], 1)), DOCUMENT)


def mlcroissant(scratch: Path) -> list[Finding]:
    """Let the reference implementation validate the Croissant description of a release of each dataset."""
    found: list[Finding] = []
    for name, dataset in DATASETS.items():
        path = scratch / f"{name}.croissant.json"
        files = [KeptReleaseFile(f"{number:04d}.parquet", "0" * 64, 1, 1, "a", "b", _STATISTICS) for number in range(2)]
        at = datetime(2026, 7, 1, tzinfo=UTC)
        address = f"https://api.example/v1/index/datasets/{name}/releases/7"
        release = Described(
            name, schema_of(dataset), 7, at, 2, 2, files, _PROFILE, address, "https://api.example/v1/docs"
        )
        path.write_text(json.dumps(descriptions.croissant(release)))
        said = run([tool("mlcroissant"), "validate", "--jsonld", str(path)], 1, errors=True)
        found += reports.croissant(said, name)
    return found


def python_generator(scratch: Path) -> list[Finding]:
    """Generate a client by openapi-python-client, which must understand everything, and let mypy --strict check it."""
    package = scratch / "generated" / "item_index_client"
    options = ["--meta", "none", "--config", str(_HERE / "openapi_python_client.yaml"), "--output-path", str(package)]
    said = run([tool("openapi-python-client"), "generate", "--path", str(document(scratch)), *options])
    if "arning" in said or "rror" in said:
        raise JudgeFailed(f"openapi-python-client left something out: {said[-800:]}")
    shutil.copy(_CALLERS / "generated.py", package.parent / "caller.py")
    checked = ["-p", "item_index_client", "-m", "caller"]
    words = run([tool("mypy"), "--strict", "--config-file", os.devnull, *checked], 1, cwd=package.parent)
    return reports.mypy(words, "openapi-python-client")


def typescript_generator(scratch: Path) -> list[Finding]:
    """Generate a client by hey-api, and let tsc check it strictly with code that calls it."""
    client = scratch / "hey-api"
    plugins = ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"]
    run([*script("openapi-ts"), "-i", str(document(scratch)), "-o", str(client), "-p", *plugins])
    shutil.copy(_CALLERS / "generated.ts", client / "caller.ts")
    return _strictly(client, "hey-api")


def typescript_client(scratch: Path) -> list[Finding]:
    """Compile the client for TypeScript, compare that with what is shipped, and check code that calls it strictly."""
    compiled = scratch / "dist"
    types = ["--typeRoots", str(ENVIRONMENT / "node_modules" / "@types")]
    run([*script("tsc"), "-p", str(PACKAGE), "--outDir", str(compiled), *types])
    shipped = {path.name: path.read_text() for path in COMPILED_FROM.parent.iterdir() if path != COMPILED_FROM}
    fresh = {path.name: path.read_text() for path in compiled.iterdir()}
    differing = sorted(name for name in shipped.keys() | fresh if shipped.get(name) != fresh.get(name))
    stale = [
        Finding("typescript", "stale", f"{COMPILED_FROM.parent.name}/{name}", "run `make clients`")
        for name in differing
    ]
    (compiled / "caller.ts").write_text((_CALLERS / "shipped.ts").read_text())
    return stale + _strictly(compiled, "typescript")


def _strictly(folder: Path, judge: str) -> list[Finding]:
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": _STRICT, "include": ["**/*.ts"]}))
    return reports.tsc(run([*script("tsc"), "-p", str(folder), "--pretty", "false"], 1, 2, cwd=folder), judge)
