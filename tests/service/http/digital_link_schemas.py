"""The schemas of GS1 for linksets and for the description of a resolver, as far as they are used."""

ADDRESS = r"^https?://[A-Za-z0-9./]+"


# What GS1's schema of linksets asks for (ref.gs1.org/standards/resolver/linkset-schema).
LINKSET_SCHEMA = {
    "type": "object",
    "required": ["linkset"],
    "additionalProperties": False,
    "properties": {
        "linkset": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["anchor", "itemDescription"],
                "properties": {
                    "anchor": {"type": "string", "pattern": ADDRESS},
                    "itemDescription": {"type": "string"},
                },
                "additionalProperties": False,
                "patternProperties": {
                    ADDRESS + "$": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "type": "object",
                            "required": ["href", "title"],
                            "additionalProperties": False,
                            "properties": {
                                "href": {"type": "string", "pattern": ADDRESS},
                                "title": {"type": "string", "minLength": 1},
                                "type": {"type": "string", "pattern": r"^\w+/[-+.\w]+$"},
                                "fwqs": {"type": "boolean"},
                            },
                        },
                    }
                },
            },
        }
    },
}


# What GS1's schema of description files asks for (version 1.2.0).
DESCRIPTION_SCHEMA = {
    "type": "object",
    "required": ["resolverRoot", "supportedPrimaryKeys"],
    "properties": {
        "resolverRoot": {"type": "string", "pattern": "^https?://"},
        "supportedPrimaryKeys": {"type": "array", "items": {"enum": ["01"]}, "minItems": 1},
        "name": {"type": "string"},
        "supportedLinkType": {
            "type": "array",
            "items": {
                "required": ["namespace", "prefix"],
                "properties": {"prefix": {"pattern": "^[a-zA-Z_][A-Za-z0-9_-]*?:$"}},
            },
        },
        "linkTypeDefaultCanBeLinkset": {"type": "boolean"},
        "jsonLdContextLocation": {"type": "string", "pattern": "^https?://"},
    },
}
