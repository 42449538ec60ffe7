"""Writes the types of both clients from the released OpenAPI document, and compiles the one for TypeScript."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from deploy.clients import python_types, typescript_types

_HERE = Path(__file__).parent
DOCUMENT = _HERE.parent / "openapi" / "v1.json"
PYTHON = _HERE / "python" / "itemindex_client" / "schemas.py"
PYTHON_REPORTS = PYTHON.with_name("reports.py")
TYPESCRIPT = _HERE / "typescript" / "src" / "schemas.ts"
PACKAGE = _HERE / "typescript"
COMPILER = _HERE.parents[1] / ".venv-judge" / "node_modules" / ".bin" / "tsc"
# The digests of the sources that dist/ was compiled from: they show without a compiler whether it is current.
COMPILED_FROM = PACKAGE / "dist" / "sources.json"


def generated(document: dict[str, Any]) -> dict[Path, str]:
    """Return the text of each generated file."""
    return {
        PYTHON: _formatted(python_types.types(document)),
        PYTHON_REPORTS: _formatted(python_types.reports(document)),
        TYPESCRIPT: typescript_types.types(document),
    }


def digests() -> dict[str, str]:
    """Return the SHA-256 of each source of the client for TypeScript, by its name."""
    sources = [*sorted((PACKAGE / "src").glob("*.ts")), PACKAGE / "tsconfig.json"]
    return {source.name: hashlib.sha256(source.read_bytes()).hexdigest() for source in sources}


def compile_typescript(target: Path) -> None:
    """Write the compiled client to a folder. Raises CalledProcessError where the sources have faults."""
    subprocess.run([COMPILER, "-p", PACKAGE, "--outDir", target, "--typeRoots", _type_roots()], check=True)
    (target / COMPILED_FROM.name).write_text(json.dumps(digests(), indent=1) + "\n")


def main() -> None:
    """Write the files, and compile where the compiler is installed (`make judge` installs it)."""
    for path, text in generated(json.loads(DOCUMENT.read_text())).items():
        path.write_text(text, encoding="utf-8")
    if not COMPILER.exists():
        sys.exit(
            f"The types are written. To compile {PACKAGE.name}/dist as well, run `make judge` once: it installs tsc."
        )
    shutil.rmtree(COMPILED_FROM.parent, ignore_errors=True)
    compile_typescript(COMPILED_FROM.parent)


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
