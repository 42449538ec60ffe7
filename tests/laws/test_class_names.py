"""One word, one thing: a reader who searches for a class finds one file."""

import ast
import re
from pathlib import Path

from tests.laws.sources import trees

# A schema of the API has the name of what it describes, since that is its component in the OpenAPI document.
SCHEMA = re.compile(r"Schema$|^fields\.|^QueryParameters$|from_dict")

# Each tier builds its services in one place, and marshmallow's options of a schema are called `Meta`. The others wait for
# a name of their own: remove each that has one.
NAMES_OF_SEVERAL_CLASSES = {
    "Services",
    "Meta",
    *"""
    Category Entries Event Figure Manifest Names Outliers Page Question Reader Reading
    """.split(),
}


def test_a_class_name_occurs_in_one_file() -> None:
    files: dict[str, set[Path]] = {}
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            if not any(SCHEMA.search(ast.unparse(base)) for base in node.bases):
                files.setdefault(node.name, set()).add(path)
    assert {name for name, found in files.items() if len(found) > 1} == NAMES_OF_SEVERAL_CLASSES
