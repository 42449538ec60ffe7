"""Clients read the releases of a running service, by the lines of the page "Connect" and of the guide.

Run by the Python of the readers' own environment, not by that of the tests: it imports nothing of this project. The page's
lines, the guide and the names of clients, if not all, come as arguments, the API's address in ITEMINDEX_URL and the key in
ITEMINDEX_KEY; the answer is JSON, a line for each client with the rows and the sum of prices that it found in the
observations, or with its error.
"""

import hashlib
import importlib
import io
import json
import os
import random
import re
import sys
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

LINES, GUIDE = tomllib.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]).read_text()
BASE = os.environ["ITEMINDEX_URL"]
HEADERS = {"Authorization": f"ApiKey {os.environ['ITEMINDEX_KEY']}"}
CUTS = 500
PREFIX = "observations/latest/"
FOLDER = Path("data/observations/17")
"""Where the guide's example expects a downloaded release."""
WORKERS = 3


def ran(*tools: str) -> dict[str, Any]:
    """Run the lines of tools as the page shows them; return the names that they define."""
    names: dict[str, Any] = {}
    for tool in tools:
        code = LINES[tool]["code"].replace("@BASE@", BASE).replace("@ORIGIN@", BASE.removesuffix("/v1"))
        exec(code, names)
    return names


def guided(beginning: str) -> dict[str, Any]:
    """Run the example of the guide that begins so; return the names that it defines."""
    manifest, *examples = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    [example] = [one for one in examples if one.startswith(beginning)]
    names: dict[str, Any] = {}
    exec(manifest + example, names)
    return names


def summed(tables: Iterable[pa.Table]) -> tuple[int, str]:
    """Return the rows of tables, and the sum of their prices."""
    table = pa.concat_tables(table.select(["price"]) for table in tables)
    return table.num_rows, str(pc.sum(table["price"]).as_py())


def manifest() -> tuple[int, str]:
    """The files as the manifest names them, by plain HTTP: what all others are held against."""
    with urlopen(Request(f"{BASE}/index/datasets/observations/releases/latest", headers=HEADERS)) as answer:
        document = json.load(answer)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in document["files"]:
        (FOLDER / file["name"]).write_bytes(urlopen(file["signed_url"]).read())
    rows, total = summed(pq.read_table(FOLDER / file["name"]) for file in document["files"])
    assert rows == document["rows"]
    return rows, total


def boto3() -> tuple[int, str]:
    names = ran("s3", "boto3")
    objects = [names["s3"].get_object(Bucket="releases", Key=file["Key"])["Body"].read() for file in names["files"]]
    return summed(pq.read_table(io.BytesIO(body)) for body in objects)


def s3fs() -> tuple[int, str]:
    fs = ran("s3", "s3fs")["fs"]
    return summed(pq.read_table(io.BytesIO(fs.cat_file(path))) for path in fs.glob(f"releases/{PREFIX}*.parquet"))


def pyarrow() -> tuple[int, str]:
    return summed([ran("s3", "pyarrow")["observations"].to_table()])


def obstore() -> tuple[int, str]:
    library, c = importlib.import_module("obstore"), ran("s3")["c"]
    named = {name: c[name] for name in ("access_key_id", "secret_access_key", "session_token", "region", "endpoint")}
    store = library.store.S3Store("releases", config=named, client_options={"allow_http": True})
    files = [entry["path"] for page in library.list(store, PREFIX) for entry in page]
    return summed(pq.read_table(io.BytesIO(bytes(library.get(store, path).bytes()))) for path in files)


def polars() -> tuple[int, str]:
    return summed([ran("s3", "polars")["observations"].select("price").collect().to_arrow()])


def pyiceberg() -> tuple[int, str]:
    table = ran("pyiceberg")["catalog"].load_table("releases.observations")
    newest = table.current_snapshot().snapshot_id
    assert [one.snapshot_id for one in table.snapshots()][-1] == newest
    return summed([table.scan(snapshot_id=newest).to_arrow()])


def polars_iceberg() -> tuple[int, str]:
    table = ran("pyiceberg")["catalog"].load_table("releases.observations")
    found = importlib.import_module("polars").scan_iceberg(table, storage_options=table.config)
    return summed([found.select("price").collect().to_arrow()])


def extended(database: Any, *names: str) -> Any:
    """Load DuckDB's extensions from their wheels into a database, and return it."""
    for name in names:
        folder = Path(importlib.import_module(f"duckdb_extension_{name}").__file__ or "").parent
        [file] = folder.rglob(f"{name}.duckdb_extension")
        database.sql(f"LOAD '{file}'")
    return database


def ducklake() -> tuple[int, str]:
    duckdb = extended(importlib.import_module("duckdb"), "httpfs", "ducklake")
    ran("duckdb")
    [(newest,)] = duckdb.sql("SELECT max(snapshot_id) FROM item_index.snapshots()").fetchall()
    table = f"item_index.observations AT (VERSION => {newest})"
    [(rows, total)] = duckdb.sql(f"SELECT count(*), sum(price) FROM {table}").fetchall()
    return rows, str(total)


def attached() -> Any:
    # A database of its own: the other one's secret would send a second credential.
    duckdb = extended(importlib.import_module("duckdb").connect(), "avro", "httpfs", "iceberg")
    duckdb.sql(f"CREATE SECRET catalogue (TYPE iceberg, TOKEN '{os.environ['ITEMINDEX_KEY']}')")
    duckdb.sql(f"ATTACH 'any' AS it (TYPE iceberg, ENDPOINT '{BASE.removesuffix('/v1')}', SECRET catalogue)")
    return duckdb


def duckdb_iceberg() -> tuple[int, str]:
    [(rows, total)] = attached().sql("SELECT count(*), sum(price) FROM it.releases.observations").fetchall()
    return rows, str(total)


COMPARED = ("iid", "slug", "status", "item_count", "first_seen_on", "day", "channel", "price_minor")
CAME, WENT = ("insert", "update_postimage"), ("delete", "update_preimage")


def get(path: str) -> Any:
    with urlopen(Request(f"{BASE}{path}", headers=HEADERS)) as answer:
        return json.load(answer)


def released(dataset: str, version: int) -> pa.Table:
    document = get(f"/index/datasets/{dataset}/releases/{version}")
    return pa.concat_tables(pq.read_table(io.BytesIO(urlopen(file["signed_url"]).read())) for file in document["files"])


def texts(table: pa.Table) -> list[str]:
    """Return the rows of a table as text, of the columns whose values all clients write alike."""
    names = [name for name in COMPARED if name in table.column_names]
    return [" ".join(map(str, row)) for row in zip(*(table[name].to_pylist() for name in names), strict=True)]


def travelled(read: Callable[[str, int], pa.Table], changes: Callable[[str, int], pa.Table]) -> tuple[int, str]:
    """Hold what a client reads at each kept version against the files of its manifest, and follow the changes."""
    versions = sorted(entry["data_version"] for entry in get("/index/datasets/items/releases")["data"])
    assert len(versions) >= 3, versions
    layouts = []
    for dataset in ("items", "observations", "brands"):
        found = [released(dataset, version) for version in versions]
        for version, expected in zip(versions, found, strict=True):
            table = read(dataset, version)
            assert sorted(table.column_names) == sorted(expected.column_names), (dataset, version, table.column_names)
            assert sorted(texts(table)) == sorted(texts(expected)), (dataset, version)
            layouts.append((dataset, *sorted(table.column_names)))
        if dataset != "brands":  # a column that came later: its brands of older releases are not the same rows
            assert sorted(texts(found[0])) != sorted(texts(found[-1])), dataset
        changed = changes(dataset, versions[0])
        signed = Counter(texts(found[0].select([c for c in found[-1].column_names if c in found[0].column_names])))
        if dataset == "brands":
            signed = Counter(f"{row} None" for row in signed.elements())
        for text, kind in zip(texts(changed), changed["_change_type"].to_pylist(), strict=True):
            signed[text] += 1 if kind in CAME else -1
        assert +signed == Counter(texts(found[-1])), dataset
        assert not -signed, dataset
    assert len(set(layouts)) == 4, "the schema of one table must have changed"
    return manifest()


def pyiceberg_travels() -> tuple[int, str]:
    catalog = ran("pyiceberg")["catalog"]
    return travelled(
        lambda dataset, version: catalog.load_table(f"releases.{dataset}").scan(snapshot_id=version).to_arrow(),
        lambda dataset, since: (
            catalog.load_table(f"releases.{dataset}_changes").scan(row_filter=f"_data_version > {since}").to_arrow()
        ),
    )


def ducklake_travels() -> tuple[int, str]:
    duckdb = extended(importlib.import_module("duckdb"), "httpfs", "ducklake")
    if "item_index" not in {name for (name,) in duckdb.sql("SELECT database_name FROM duckdb_databases()").fetchall()}:
        ran("duckdb")
    return asked(duckdb, "item_index")


def duckdb_iceberg_travels() -> tuple[int, str]:
    return asked(attached(), "it.releases")


def asked(duckdb: Any, schema: str) -> tuple[int, str]:
    return travelled(
        lambda dataset, version: duckdb.sql(f"FROM {schema}.{dataset} AT (VERSION => {version})").to_arrow_table(),
        lambda dataset, since: duckdb.sql(
            f"FROM {schema}.{dataset}_changes WHERE _data_version > {since}"
        ).to_arrow_table(),
    )


def delta_sharing() -> tuple[int, str]:
    library, profile = importlib.import_module("delta_sharing"), Path("item-index.share")
    profile.write_text(json.dumps(get("/delta-sharing/profile")))
    address = f"{profile}#item-index.releases."
    return travelled(
        lambda dataset, version: pa.Table.from_pandas(library.load_as_pandas(f"{address}{dataset}", version=version)),
        lambda dataset, since: pa.Table.from_pandas(
            library.load_table_changes_as_pandas(f"{address}{dataset}", starting_version=since + 1)
        ),
    )


def daft() -> tuple[int, str]:
    """On a Ray cluster: the head has no core, each worker has one."""
    ray = importlib.import_module("ray")
    cluster = importlib.import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        for _ in range(WORKERS):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        ray.init(cluster.address, log_to_driver=False)
        importlib.import_module("daft").set_runner_ray(cluster.address)
        totals = guided("import daft")["totals"]
        assert sum(bool(node["Resources"].get("CPU")) for node in ray.nodes()) == WORKERS
    finally:
        ray.shutdown()
        cluster.shutdown()
    return sum(totals["rows"]), str(sum(totals["price"]))


def spark() -> tuple[int, str]:
    totals = guided("import pyspark")["totals"]
    return sum(row["rows"] for row in totals), str(sum(row["price"] for row in totals))


def resumed() -> tuple[int, str]:
    """Each of many transfers is cut at some byte and continued from there; the digest is that of the ETag."""
    names, dice = ran("s3", "boto3"), random.Random(34)
    for _ in range(CUTS):
        chosen = dice.choice(names["files"])
        at = dice.randrange(1, chosen["Size"])
        named = {"Bucket": "releases", "Key": chosen["Key"]}
        first = names["s3"].get_object(**named)
        got = first["Body"].read(at)
        first["Body"].close()
        got += names["s3"].get_object(**named, Range=f"bytes={at}-")["Body"].read()
        assert first["ETag"] == f'"{hashlib.sha256(got).hexdigest()}-1"', chosen["Key"]
    return manifest()


def ended() -> tuple[int, str]:
    """The key is revoked while this waits for a line of input; a second later nothing can be read by any way."""
    names = ran("s3", "boto3", "pyiceberg")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    ways: dict[str, Callable[[], Any]] = {
        "bucket": lambda: names["s3"].list_objects_v2(Bucket="releases"),
        "object": lambda: names["s3"].get_object(Bucket="releases", Key=names["files"][0]["Key"]),
        "iceberg": lambda: names["catalog"].load_table("releases.items"),
        "ducklake": lambda: urlopen(Request(f"{BASE}/catalog/ducklake/latest.ducklake", headers=HEADERS)),
    }
    for way, ask in ways.items():
        try:
            ask()
        except Exception as refused:
            if not any(word in f"{refused!r}" for word in ("403", "401", "InvalidAccessKeyId", "Unauthorized")):
                raise
        else:
            raise AssertionError(f"{way} still answers")
    return 0, ""


CLIENTS = (
    manifest, boto3, s3fs, pyarrow, obstore, polars, pyiceberg, polars_iceberg, ducklake, duckdb_iceberg,
    pyiceberg_travels, ducklake_travels, duckdb_iceberg_travels, daft, spark, resumed, ended,
)  # fmt: skip


def main() -> None:
    for client in [globals()[name] for name in sys.argv[3:]] or CLIENTS:
        try:
            rows, total = client()
            line = {"client": client.__name__, "rows": rows, "sum": total}
        except Exception as error:  # noqa: BLE001 - each client has errors of its own
            line = {"client": client.__name__, "error": f"{type(error).__name__}: {error}"[:500]}
            traceback.print_exc()
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
