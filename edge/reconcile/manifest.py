"""The manifest: what this service of reconciliation offers, and where. Pure."""

from edge.reconcile.entities import TYPES

PATH = "reconcile"
# Of the frame in which tools show a preview, in pixels.
_WIDTH, _HEIGHT = 420, 220


def manifest(base_url: str, address: str, batch_max: int | None) -> dict[str, object]:
    """Return the manifest of the service at an address below the API, for a plan with batches so long.

    Without a plan, which an open address does not know, callers choose.
    """
    url = f"{base_url}/{address}"
    document: dict[str, object] = {
        "versions": ["0.2"],
        "name": "Item Index",
        "identifierSpace": f"{base_url}/{PATH}/entities/",
        "schemaSpace": f"{base_url}/{PATH}/types/",
        "documentation": f"{base_url}/docs/guides/tables",
        "defaultTypes": [one.reference for one in TYPES.values()],
        "view": {"url": f"{base_url}/{PATH}/entities/{{{{id}}}}"},
    }
    suggest = {"service_url": url}
    document["suggest"] = {
        name: {**suggest, "service_path": f"/suggest/{name}"} for name in ("entity", "property", "type")
    }
    document["extend"] = {"propose_properties": {"service_url": url, "service_path": "/properties"}}
    if batch_max is not None:
        document["batchSize"] = batch_max
    if address != PATH:  # the frame of a preview sends no header
        document["preview"] = {"url": f"{url}/preview/{{{{id}}}}", "width": _WIDTH, "height": _HEIGHT}
    else:
        document["authentication"] = {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`ApiKey …`; a tool that sends no headers uses the address of /v1/reconcile/address",
        }
    return document
