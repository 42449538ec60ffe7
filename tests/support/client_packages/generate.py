"""Writes the types of both clients from the released OpenAPI document, compiles and packs the one for TypeScript."""

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from tests.support.client_packages import python_types, typescript_types

_PROJECT = Path(__file__).parents[3]
_CLIENTS = _PROJECT / "clients"
DOCUMENT = _PROJECT / "docs" / "openapi" / "v1.json"
PYTHON = _CLIENTS / "python" / "itemindex_client" / "schemas.py"
PYTHON_REPORTS = PYTHON.with_name("reports.py")
TYPESCRIPT = _CLIENTS / "typescript" / "src" / "schemas.ts"
TYPESCRIPT_PARAMETERS = TYPESCRIPT.with_name("parameters.ts")
TYPESCRIPT_REPORTS = TYPESCRIPT.with_name("reports.ts")
PACKAGE = _CLIENTS / "typescript"
COMPILER = _PROJECT / ".venv-judge" / "node_modules" / ".bin" / "tsc"
# The digests of the sources that dist/ was compiled from: they show without a compiler whether it is current.
COMPILED_FROM = PACKAGE / "dist" / "sources.json"
# What the service hands out. The tarball is committed, because compiling it needs npm, which `make up` does without; set-up
# builds the wheel, and unpacks `dist` from the tarball for the tests.
PACKAGES = _PROJECT / "edge" / "docs" / "packages"
# The same sources make the same packages, byte for byte: no time and no right of a file is the machine's own.
_EPOCH, _MODE = 499_162_500, 0o644


def generated(document: dict[str, Any]) -> dict[Path, str]:
    """Return the text of each generated file."""
    reports = _formatted(python_types.reports(document))
    own = [path.read_text() for path in PYTHON.parent.glob("*.py") if path not in (PYTHON, PYTHON_REPORTS)]
    used = set(re.findall(r"\w+", "".join([reports, *own])))
    return {
        PYTHON: _formatted(python_types.types(document, used)),
        PYTHON_REPORTS: reports,
        TYPESCRIPT: typescript_types.types(document),
        TYPESCRIPT_REPORTS: typescript_types.reports(document),
        TYPESCRIPT_PARAMETERS: typescript_types.parameters(document),
    }


def digests() -> dict[str, str]:
    """Return the SHA-256 of each source of the client for TypeScript, by its name."""
    sources = [*sorted((PACKAGE / "src").glob("*.ts")), PACKAGE / "tsconfig.json"]
    return {source.name: hashlib.sha256(source.read_bytes()).hexdigest() for source in sources}


def compile_typescript(target: Path) -> None:
    """Write the compiled client to a folder. Raises CalledProcessError where the sources have faults."""
    subprocess.run([COMPILER, "-p", PACKAGE, "--outDir", target, "--typeRoots", _type_roots()], check=True)
    (target / COMPILED_FROM.name).write_text(json.dumps(digests(), indent=1) + "\n")


def packed() -> dict[str, bytes]:
    """Return the files of the package for npm, by their names in it."""
    compiled = sorted(COMPILED_FROM.parent.iterdir())
    files = [PACKAGE / "package.json", PACKAGE / "README.md", *compiled]
    return {f"package/{path.relative_to(PACKAGE)}": path.read_bytes() for path in files}


def pack() -> None:
    """Write the package for npm anew."""
    package = json.loads((PACKAGE / "package.json").read_text())
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in packed().items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), _EPOCH, _MODE
            archive.addfile(entry, io.BytesIO(content))
    tarball = PACKAGES / f"{package['name']}-{package['version']}.tgz"
    tarball.write_bytes(gzip.compress(unpacked.getvalue(), mtime=0))


def main() -> None:
    """Write the files, and compile and pack the client for TypeScript where the compiler is installed (`make clients` installs it with npm)."""
    for path, text in generated(json.loads(DOCUMENT.read_text())).items():
        path.write_text(text, encoding="utf-8")
    if not COMPILER.exists():
        sys.exit(
            f"The types are written; {PACKAGE.name}/dist and its package are not: that needs tsc, which `make clients` "
            "installs where there is npm."
        )
    shutil.rmtree(COMPILED_FROM.parent, ignore_errors=True)
    compile_typescript(COMPILED_FROM.parent)
    pack()


def _type_roots() -> str:
    return str(COMPILER.parents[1] / "@types")


def _formatted(module: str) -> str:
    """Return a module of Python as the project's formatter writes it."""
    for command in (("check", "-q", "--fix-only", "--select", "I"), ("format", "-q")):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PYTHON), "-"],
            input=module,
            capture_output=True,
            text=True,
            check=True,
        )
        module = done.stdout
    return module


if __name__ == "__main__":
    main()
