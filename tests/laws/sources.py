"""The sources of the product, as laws read them."""

import ast
import re
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]

FOLDERS = ("edge", "workers", "shared", "deploy")

# The client is a package of its own: it runs at customers' and reads its own variables; its types are generated.
CLIENT = PROJECT / "clients/python"

SOURCES = {
    path: path.read_text(encoding="utf-8")
    for folder in FOLDERS
    for path in sorted((PROJECT / folder).rglob("*.py"))
    if not path.is_relative_to(CLIENT)
}

CODE = "\n".join(SOURCES.values())

CODE_WITHOUT_SETTINGS = "\n".join(text for path, text in SOURCES.items() if path.name != "settings.py")


@cache
def trees() -> dict[Path, ast.Module]:
    """Parse every source, once and only where a test asks: each process of tests imports this module."""
    return {path: ast.parse(text) for path, text in SOURCES.items()}


COMMENT = re.compile(r"--[^\n]*")
