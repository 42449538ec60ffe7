"""A description for each parameter and each member of each schema: its own, or that of its name in members.toml."""

import tomllib
from pathlib import Path

from edge.openapi.components import Node, operations_of

# `Schema.member` goes before `member`; `parameter.name` is of parameters.
SENTENCES: dict[str, str] = tomllib.loads(Path(__file__).with_name("members.toml").read_text(encoding="utf-8"))


def with_descriptions(document: Node) -> None:
    """Describe each parameter, and each member, that does not describe itself or refer to a schema that does.

    Raises KeyError for a parameter that nothing describes.
    """
    for operation in operations_of(document):
        for parameter in operation.get("parameters", ()):
            if not parameter.get("description"):
                parameter["description"] = SENTENCES[f"parameter.{parameter['name']}"]
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        for member, node in schema.get("properties", {}).items():
            sentence = sentence_for(name, member)
            if sentence and needs_description(node, schemas):
                node["description"] = sentence


def sentence_for(schema: str, member: str) -> str | None:
    """Return the sentence for a member of a schema, or None."""
    return SENTENCES.get(f"{schema}.{member}", SENTENCES.get(member))


def needs_description(node: Node, schemas: Node) -> bool:
    """Return whether neither a member nor the schema that it refers to is described."""
    if node.get("description"):
        return False
    referred = [node, node.get("items", {}), *node.get("anyOf", ())]
    names = [str(one["$ref"]).rpartition("/")[2] for one in referred if "$ref" in one]
    return not any(schemas[name].get("description") for name in names)
