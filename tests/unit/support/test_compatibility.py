"""Within a version only additions: what breaks a client is found."""

import copy
from collections.abc import Callable
from typing import Any

from tests.support.compatibility import breaking

OLD: dict[str, Any] = {
    "paths": {
        "/v1/things": {
            "get": {
                "parameters": [
                    {"in": "query", "name": "q", "schema": {"type": "string", "maxLength": 200}},
                    {"in": "query", "name": "order", "schema": {"type": "string", "enum": ["up", "down"]}},
                ],
                "security": [{"ApiKey": []}, {"PublicToken": []}],
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Things"}}}},
                    "404": {},
                },
            },
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "size": {"type": "integer"},
                                    "label": {"$ref": "#/components/schemas/Text", "maxLength": 50},
                                },
                            }
                        }
                    }
                },
                "responses": {"201": {}},
            },
        }
    },
    "components": {
        "schemas": {
            "Text": {"type": "string"},
            "Things": {
                "type": "object",
                "required": ["data", "count"],
                "properties": {
                    "data": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["id"],
                            "properties": {"id": {"type": "string"}, "price": {"type": ["string", "null"]}},
                        },
                    },
                    "count": {"type": "integer"},
                },
            },
        }
    },
}


def _get(document: dict[str, Any]) -> Any:
    return document["paths"]["/v1/things"]["get"]


def _schema(document: dict[str, Any]) -> Any:
    return document["components"]["schemas"]["Things"]


def _body(document: dict[str, Any]) -> Any:
    return document["paths"]["/v1/things"]["post"]["requestBody"]["content"]["application/json"]["schema"]


Change = Callable[[dict[str, Any]], Any]

BREAKING: dict[str, Change] = {
    "GET /v1/things is gone": lambda d: d["paths"]["/v1/things"].pop("get"),
    "the parameter q is gone": lambda d: _get(d)["parameters"].pop(0),
    "the parameter q is now needed": lambda d: _get(d)["parameters"][0].update(required=True),
    "the new parameter page is needed": lambda d: _get(d)["parameters"].append(
        {"in": "query", "name": "page", "required": True}
    ),
    "maxLength is now 100": lambda d: _get(d)["parameters"][0]["schema"].update(maxLength=100),
    "'up' is not allowed": lambda d: _get(d)["parameters"][1]["schema"].update(enum=["down"]),
    "maxLength is now 10": lambda d: _body(d)["properties"]["label"].update(maxLength=10),
    "the answer 200 is gone": lambda d: _get(d)["responses"].pop("200"),
    "application/json is gone": lambda d: _get(d)["responses"]["200"]["content"].pop("application/json"),
    "count is gone": lambda d: (_schema(d)["properties"].pop("count"), _schema(d)["required"].remove("count")),
    "count may now be absent": lambda d: _schema(d)["required"].remove("count"),
    "may now be null": lambda d: _schema(d)["properties"]["count"].update(type=["integer", "null"]),
    "price is gone": lambda d: _schema(d)["properties"]["data"]["items"]["properties"].pop("price"),
    "PublicToken is not taken": lambda d: _get(d).update(security=[{"ApiKey": []}]),
    "size is now needed": lambda d: _body(d)["required"].append("size"),
    "size is not taken": lambda d: _body(d)["properties"].pop("size"),
}


def test_a_change_that_breaks_a_client_is_found() -> None:
    for sentence in BREAKING:
        new = copy.deepcopy(OLD)
        BREAKING[sentence](new)
        assert any(sentence in found for found in breaking(OLD, new)), breaking(OLD, new)
    assert breaking(OLD, OLD) == []
