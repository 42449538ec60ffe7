"""The clients follow the released OpenAPI document, and what is shipped is what was written."""

import gzip
import json
import re
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest

from tests.support.client_packages.generate import (
    COMPILED_FROM,
    DOCUMENT,
    PACKAGE,
    PACKAGES,
    PYTHON,
    PYTHON_REPORTS,
    TYPESCRIPT,
    TYPESCRIPT_PARAMETERS,
    TYPESCRIPT_REPORTS,
    digests,
    generated,
    packed,
)

DIST = COMPILED_FROM.parent


@pytest.mark.parametrize(
    "path",
    [PYTHON, PYTHON_REPORTS, TYPESCRIPT, TYPESCRIPT_REPORTS, TYPESCRIPT_PARAMETERS],
    ids=lambda path: path.name,
)
def test_the_types_are_those_of_the_document(path: Path) -> None:
    assert generated(json.loads(DOCUMENT.read_text()))[path] == path.read_text(encoding="utf-8"), "run `make clients`"


def test_the_compiled_client_is_of_the_sources_as_they_are() -> None:
    assert json.loads(COMPILED_FROM.read_text()) == digests(), "run `make clients`"
    sources = {source.stem for source in (PACKAGE / "src").glob("*.ts")}
    assert (
        {path.stem for path in DIST.glob("*.js")}
        == sources
        == {path.name.split(".")[0] for path in DIST.glob("*.d.ts")}
    )


def test_the_packages_that_the_service_hands_out_are_of_the_sources_as_they_are() -> None:
    [tarball], [wheel] = PACKAGES.glob("*.tgz"), PACKAGES.glob("*.whl")
    with tarfile.open(tarball) as archive:
        assert {entry.name: archive.extractfile(entry).read() for entry in archive} == packed(), "run `make clients`"
    sources = PYTHON.parents[1]
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    head = BytesParser().parsebytes(next(text for name, text in content.items() if name.endswith("/METADATA")))
    project = tomllib.loads((sources / "pyproject.toml").read_text())["project"]
    assert (head["Name"], head["Version"]) == (project["name"], project["version"])
    assert head.get_payload(decode=True) == (sources / "README.md").read_bytes(), "run `make clients`"
    assert {name: text for name, text in content.items() if ".dist-info/" not in name} == {
        str(path.relative_to(sources)): path.read_bytes() for path in PYTHON.parent.iterdir() if path.is_file()
    }, "run `make clients`"


def test_the_client_for_typescript_is_small_and_depends_on_nothing() -> None:
    package = json.loads((PACKAGE / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & package.keys()
    scripts = {path.name: path.read_text() for path in DIST.glob("*.js")}
    assert len(gzip.compress("".join(scripts.values()).encode())) <= 15_000
    imported = {name: set(re.findall(r'from "([^"]+)"', text)) for name, text in scripts.items()}
    assert {
        one for name in imported if name != "node.js" for one in imported[name] if not one.startswith("./")
    } == set()
    assert {one.partition(":")[0] for one in imported["node.js"] if not one.startswith("./")} == {"node"}
