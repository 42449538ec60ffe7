"""Pages of an entity: the preview that tools show in a frame, and where the whole page is."""

import base64
import hashlib
from pathlib import Path
from urllib.parse import quote

from aiohttp import web

from edge.http.html import Templates
from edge.http.json import NO_STORE
from edge.http.problems import Problem
from edge.index.record import RecordCache
from edge.reconcile.entities import EntityId, EntityType, read_entity_id
from edge.reconcile.records import find_items
from shared.analytics.footprint import INDICATORS
from shared.errors import ItemNotFound

_STYLE = "body{font:14px/1.4 sans-serif;margin:12px}h1{font-size:16px;margin:0}dl{margin:0}dt{float:left;width:9em}"
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# In the frame of any tool; nothing in it may run, load or send anything.
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors *; sandbox"
)
_FIELDS = {**NO_STORE, "Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}
_PAGES = {EntityType.ITEM: "items", EntityType.BRAND: "brands", EntityType.CATEGORY: "categories"}


class EntityPages:
    def __init__(self, records: RecordCache, origin: str) -> None:
        self._records = records
        self._origin = origin
        self._templates = Templates(Path(__file__).with_name("templates"))

    async def show(self, request: web.Request) -> web.StreamResponse:
        """Redirect to the page of an entity."""
        entity = _entity_of(request)
        raise web.HTTPFound(f"{self._origin}/{_PAGES[entity.type]}/{quote(entity.value, safe='')}")

    async def preview(self, request: web.Request) -> web.StreamResponse:
        """Show an entity in small: name, brand, category, GTINs, price and footprint of an item, else its name."""
        entity = _entity_of(request)
        item = None
        if entity.type is EntityType.ITEM:
            item = (await find_items(self._records, [entity.value])).get(entity.value)
            if item is None:
                raise ItemNotFound
        text = self._templates.text("preview.html", style=_STYLE, entity=entity, item=item, indicators=INDICATORS)
        return web.Response(text=text, content_type="text/html", charset="utf-8", headers=_FIELDS)


def _entity_of(request: web.Request) -> EntityId:
    entity = read_entity_id(request.match_info["id"])
    if entity is None:
        raise Problem("not-found", "No entity has an id of this form.")
    return entity
