"""One word, one thing: a reader who searches for a class finds one file."""

import ast
from pathlib import Path

from tests.laws.sources import trees

# A schema of the API has the name of what it describes, since that is its component in the OpenAPI document.
_SCHEMA = "a schema of the API, and the value that it describes"

SEVERAL = {
    "Meta": "marshmallow's name for the options of a schema",
    "Contributor": _SCHEMA,
    "Item": _SCHEMA,
}
"""The names of more than one class, each with the reason."""


def test_a_class_name_occurs_in_one_file() -> None:
    files: dict[str, set[Path]] = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, set()).add(path)
    assert {name for name, found in files.items() if len(found) > 1} == set(SEVERAL)
