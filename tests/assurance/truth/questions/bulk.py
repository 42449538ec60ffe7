"""Bulk data: releases, exports and Delta Sharing, every row of every dataset."""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import delta_sharing

from tests.assurance.truth import files
from tests.assurance.truth.client import Client, Reply
from tests.assurance.truth.compare import Question
from tests.assurance.truth.index import Index
from tests.assurance.truth.questions.scopes import random_days, random_range

FORMATS = ("parquet", "csv", "ndjson", "arrow")
_WAIT_SECONDS = 120.0
_ORDERS_AHEAD = 50  # half as many as an organization may have waiting


def releases(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare every row of the newest release of each dataset."""
    for dataset in files.DATASETS:
        manifest = client.get(f"/index/datasets/{dataset}/releases/latest").body
        with tempfile.TemporaryDirectory() as folder:
            yield from files.compared(index, f"release of {dataset}", dataset, _saved(client, manifest, Path(folder)))


def exports(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare every dataset, in every format where so many questions are asked, then random filters of observations."""
    turns = [
        {"dataset": dataset, "format": FORMATS[(number + turn) % len(FORMATS)]}
        for turn in range(len(FORMATS))
        for number, dataset in enumerate(files.DATASETS)
    ]
    orders: list[tuple[dict[str, Any], str]] = [(order, "true") for order in turns[: max(count, len(files.DATASETS))]]
    orders += [_narrowed(index, random) for _ in range(count // 5)]
    for start in range(0, len(orders), _ORDERS_AHEAD):
        yield from _exported(client, index, orders[start : start + _ORDERS_AHEAD])


def since(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Ask what changed since each version: since the newest nothing did, and before the first there was nothing."""
    newest = client.get("/index/brands", {"limit": 1}).body["data_version"]
    for dataset in ("items", "observations", "impacts"):
        manifest = _manifest(client, _ordered(client, {"dataset": dataset, "since": newest}))
        rows = sum(file["rows"] for file in manifest["files"])
        yield Question(f"{dataset} since {newest}", rows, 0)


def sharing(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare every row of every table as the protocol's own client reads it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profile = folder / "profile.share"
        profile.write_text(json.dumps(client.get("/delta-sharing/profile").body))
        for dataset in files.DATASETS:
            address = f"{profile}#item-index.releases.{dataset}"
            frame = delta_sharing.load_as_pandas(address)
            saved = folder / f"{dataset}.parquet"
            frame.astype(_integers(address)).to_parquet(saved)
            yield from files.compared(index, f"shared {dataset}", dataset, [saved])


def _integers(address: str) -> dict[str, str]:
    """Return the integer columns of a table with a type of pandas that has nulls; its usual one makes them floats."""
    described = json.loads(delta_sharing.get_table_metadata(address).schema_string)["fields"]
    return {column["name"]: "Int64" for column in described if column["type"] in ("integer", "long")}


def _narrowed(index: Index, random: Random) -> tuple[dict[str, Any], str]:
    first, last = random_range(random, random_days(index, random))
    brand, channel = random.choice(index.known_brands), random.choice(index.known_channels)
    narrowed: dict[str, Any] = {"from": str(first), "to": str(last)}
    where = f"day BETWEEN DATE '{first}' AND DATE '{last}'"
    if random.random() < 0.5:
        narrowed["brand"] = brand
        where += f" AND iid IN (SELECT iid FROM items WHERE brand = '{brand}')"
    if random.random() < 0.5:
        narrowed["channel"] = channel
        where += f" AND channel = '{channel}'"
    return {"dataset": "observations", "format": random.choice(FORMATS), "filter": narrowed}, where


def _exported(client: Client, index: Index, orders: list[tuple[dict[str, Any], str]]) -> Iterator[Question]:
    """Order exports, and compare each while workers make the others."""
    replies = [_ordered(client, order) for order, _ in orders]
    for (order, where), reply in zip(orders, replies, strict=True):
        manifest = _manifest(client, reply)
        with tempfile.TemporaryDirectory() as folder:
            if "files" not in manifest:
                yield Question(f"export {order}", manifest, "an export")
                continue
            saved = _saved(client, manifest, Path(folder))
            yield from files.compared(index, f"export {order}", str(order["dataset"]), saved, where)


def _ordered(client: Client, order: dict[str, Any]) -> Reply:
    """Order an export and return the answer."""
    return client.post("/index/exports", order, **{"Idempotency-Key": f"truth-{uuid4()}"})


def _manifest(client: Client, reply: Reply) -> dict[str, Any]:
    """Wait for an export that was ordered; return its manifest, or the problem where there is one."""
    ends = time.monotonic() + _WAIT_SECONDS
    while reply.status in (200, 202) and time.monotonic() < ends:
        found = client.get(f"/index/exports/{reply.body['id']}").body
        if found.get("state", "") not in ("queued", "running"):
            return dict(found.get("manifest") or found)
        time.sleep(0.05)
    return dict(reply.body)


def _saved(client: Client, manifest: dict[str, Any], folder: Path) -> list[Path]:
    """Download the rows of a manifest's files."""
    saved = []
    for file in manifest["files"]:
        if file.get("content", "rows") == "rows":
            path = folder / file["name"]
            path.write_bytes(client.raw(file["url"]))
            saved.append(path)
    return saved


ENDPOINTS = {"datasets": releases, "exports": exports, "exports since": since, "delta-sharing": sharing}
