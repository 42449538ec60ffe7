"""The first calls of one client against a running service: `first_calls.py CLIENT FOLDER`.

Run by the Python of the environment in which the client stands: it imports nothing of this project. The API's address is
in ITEMINDEX_URL and a key in ITEMINDEX_KEY. Its output is a line of JSON: how many calls were made, and which failed.
"""

import asyncio
import hashlib
import importlib
import json
import os
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

BASE, KEY = os.environ["ITEMINDEX_URL"], os.environ["ITEMINDEX_KEY"]
ORIGIN = BASE.removesuffix("/v1")
TABLE = "observations"
PREFIX = f"{TABLE}/latest/"
UPLOAD_BYTES = 3 << 20
DELIVERY_SECONDS = 30.0


class Calls:
    """Makes calls one after another; one that raises, or returns nothing that is true, has failed."""

    def __init__(self) -> None:
        self.made = 0
        self.failed: list[str] = []

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        """Make a call and return its result, None where it failed."""
        self.made += 1
        try:
            result = call()
        except Exception as error:  # noqa: BLE001 - each client has errors of its own
            traceback.print_exc()
            self.failed.append(f"{name}: {type(error).__name__}: {error}"[:300])
            return None
        if result is None or result is False or (hasattr(result, "__len__") and not len(result)):
            self.failed.append(f"{name}: {result!r}")
        return result

    def refused(self, name: str, call: Callable[[], Any], *words: str) -> None:
        """Make a call that must be refused with an error of the client that has these words."""

        def ask() -> bool:
            try:
                result = call()
            except Exception as error:
                missing = [word for word in words if word not in f"{type(error).__name__} {error}"]
                if missing:
                    raise
                return True
            raise AssertionError(f"it was accepted: {result!r}"[:200])

        self(name, ask)


def get(path: str, method: str = "GET") -> Any:
    with urlopen(Request(f"{BASE}{path}", method=method, headers={"Authorization": f"ApiKey {KEY}"})) as answer:
        return json.load(answer)


def credentials() -> dict[str, str]:
    made: dict[str, str] = get("/org/data-credentials", "POST")
    return made


def manifest() -> dict[str, Any]:
    document: dict[str, Any] = get(f"/index/datasets/{TABLE}/releases/latest")
    return document


def boto3(calls: Calls, folder: Path) -> None:
    library, made = importlib.import_module("boto3"), credentials()
    config = importlib.import_module("botocore.config").Config(
        signature_version="s3v4", retries={"total_max_attempts": 1}
    )
    s3 = library.client(
        "s3",
        endpoint_url=made["endpoint"],
        region_name=made["region"],
        aws_access_key_id=made["access_key_id"],
        aws_secret_access_key=made["secret_access_key"],
        aws_session_token=made["session_token"],
        config=config,
    )
    releases = {"Bucket": "releases"}
    calls("list_buckets", lambda: [one["Name"] for one in s3.list_buckets()["Buckets"]] == ["releases"])
    calls("head_bucket", lambda: s3.head_bucket(**releases))
    calls("get_bucket_location", lambda: s3.get_bucket_location(**releases))
    found = calls("list_objects_v2", lambda: s3.list_objects_v2(**releases, Prefix=PREFIX)["Contents"])
    older = calls("list_objects", lambda: s3.list_objects(**releases, Prefix=PREFIX)["Contents"])
    calls("both listings", lambda: [one["Key"] for one in older] == [one["Key"] for one in found])
    named = {**releases, "Key": found[0]["Key"]}
    body = calls("get_object", lambda: s3.get_object(**named)["Body"].read())
    digest = hashlib.sha256(body).hexdigest()
    calls("its digest", lambda: digest == manifest()["files"][0]["sha256"])
    calls("head_object", lambda: s3.head_object(**named)["ETag"] == found[0]["ETag"])
    calls("a range", lambda: s3.get_object(**named, Range="bytes=-9")["Body"].read() == body[-9:])
    calls("If-Match", lambda: s3.get_object(**named, IfMatch=found[0]["ETag"]))
    calls.refused("If-None-Match", lambda: s3.get_object(**named, IfNoneMatch=found[0]["ETag"]), "304")
    asked = {**named, "ResponseContentDisposition": "inline", "ResponseContentType": "text/plain"}

    def presigned() -> bool:
        with urlopen(s3.generate_presigned_url("get_object", Params=asked)) as answer:
            return (answer.headers["Content-Disposition"], answer.read()) == ("inline", body)

    calls("a presigned address", presigned)
    calls("download_file", lambda: s3.download_file(**named, Filename=str(folder / "x.parquet")) or True)
    calls.refused("put_object", lambda: s3.put_object(**named, Body=b"x" * UPLOAD_BYTES), "MethodNotAllowed")
    calls.refused("create_multipart_upload", lambda: s3.create_multipart_upload(**named), "MethodNotAllowed")
    calls.refused("a missing key", lambda: s3.get_object(**releases, Key="items/latest/none"), "NoSuchKey")
    for other in ("another", "another-bucket-of-s3"):
        calls.refused("another bucket", lambda other=other: s3.list_objects_v2(Bucket=other), "NoSuchBucket")


def s3fs(calls: Calls, folder: Path) -> None:
    made = credentials()
    options = {"key": made["access_key_id"], "secret": made["secret_access_key"], "token": made["session_token"]}
    options["endpoint_url"] = made["endpoint"]
    fs = importlib.import_module("s3fs").S3FileSystem(**options)
    calls("ls of all buckets", lambda: fs.ls("") == ["releases"])
    calls("ls", lambda: f"releases/{TABLE}" in fs.ls("releases"))
    files = calls("glob", lambda: fs.glob(f"releases/{PREFIX}*.parquet"))
    calls("info", lambda: fs.info(files[0])["size"])
    calls("checksum", lambda: isinstance(fs.checksum(files[0]), int))
    calls("exists", lambda: fs.exists(f"releases/{TABLE}") and not fs.exists("releases/none"))
    calls("isdir", lambda: fs.isdir(f"releases/{TABLE}/latest"))
    calls("cat_file of a part", lambda: fs.cat_file(files[0], start=0, end=4) == b"PAR1")
    calls("cat_file", lambda: len(fs.cat_file(files[0])) == fs.info(files[0])["size"])
    calls("another bucket", lambda: not fs.exists("another-bucket-of-s3/key"))
    calls.refused("pipe", lambda: fs.pipe("releases/x", b"x"), "read-only")
    frame = importlib.import_module("dask.dataframe")
    storage = {"storage_options": options, "columns": ["iid", "price_minor"]}
    rows = manifest()["rows"]
    for name, path in (("the files", f"s3://releases/{PREFIX}*.parquet"), ("the folder", f"s3://releases/{PREFIX}")):
        calls(f"Dask reads {name}", lambda path=path: len(frame.read_parquet(path, **storage)) == rows)
    calls(
        "Dask adds up", lambda: frame.read_parquet(f"s3://releases/{PREFIX}", **storage)["price_minor"].sum().compute()
    )


def pyarrow(calls: Calls, folder: Path) -> None:
    library, dataset = importlib.import_module("pyarrow.fs"), importlib.import_module("pyarrow.dataset")
    made, rows = credentials(), manifest()["rows"]
    fs = library.S3FileSystem(
        endpoint_override=made["endpoint"],
        region=made["region"],
        access_key=made["access_key_id"],
        secret_key=made["secret_access_key"],
        session_token=made["session_token"],
    )
    calls("all buckets", lambda: [one.path for one in fs.get_file_info(library.FileSelector(""))] == ["releases"])
    calls("a folder", lambda: fs.get_file_info(library.FileSelector("releases")))
    found = calls("all below", lambda: fs.get_file_info(library.FileSelector(f"releases/{PREFIX}", recursive=True)))
    kinds = library.FileType
    expected = [kinds.Directory, kinds.Directory, kinds.NotFound, kinds.NotFound]
    places = ["releases", f"releases/{TABLE}", "releases/none", "another-bucket-of-s3/key"]
    calls("what is there", lambda: [one.type for one in fs.get_file_info(places)] == expected)
    read = dataset.dataset(f"releases/{PREFIX}", filesystem=fs)
    calls("count_rows", lambda: read.count_rows() == rows)
    calls("to_table", lambda: read.to_table(columns=["price"]).num_rows == rows)
    calls("head", lambda: read.head(5).num_rows == 5)
    calls("a filter", lambda: read.count_rows(filter=dataset.field("price_minor") < 0) == 0)
    calls("a random place", lambda: fs.open_input_file(found[0].path).read_at(4, 0) == b"PAR1")
    calls("a stream", lambda: len(fs.open_input_stream(found[0].path).read()) == found[0].size)
    calls.refused("an upload", lambda: fs.open_output_stream("releases/x").close(), "MethodNotAllowed")


def polars(calls: Calls, folder: Path) -> None:
    library, made = importlib.import_module("polars"), credentials()
    names = ("access_key_id", "secret_access_key", "session_token", "region")
    options = {f"aws_{name}": made[name] for name in names}
    options |= {"aws_endpoint_url": made["endpoint"], "aws_allow_http": "true"}
    document = manifest()
    scan = library.scan_parquet(f"s3://releases/{PREFIX}*.parquet", storage_options=options)
    calls("the schema", lambda: len(scan.collect_schema()) == len(document["schema"]))
    calls("count", lambda: scan.select(library.len()).collect().item() == document["rows"])
    calls("head", lambda: scan.head(5).collect().height == 5)
    calls("one column", lambda: scan.select("price_minor").collect().height == document["rows"])
    calls("a filter", lambda: scan.filter(library.col("price_minor") < 0).collect().height == 0)
    calls("groups", lambda: scan.group_by("channel").len().collect())
    version = document["data_version"]
    path = f"s3://releases/{TABLE}/{version}/"
    calls("the folder", lambda: library.scan_parquet(path, storage_options=options).head(1).collect())
    calls("read_parquet", lambda: library.read_parquet(f"{path}*.parquet", storage_options=options, columns=["iid"]))
    urls = [file["signed_url"] for file in document["files"]]
    calls("signed addresses", lambda: library.scan_parquet(urls).select(library.len()).collect().item())
    missing = library.scan_parquet("s3://releases/items/99999/0000.parquet", storage_options=options)
    calls.refused("a missing release", missing.collect, "not")


def pyiceberg(calls: Calls, folder: Path) -> None:
    load = importlib.import_module("pyiceberg.catalog").load_catalog
    catalog = load("item-index", type="rest", uri=ORIGIN, token=KEY)
    calls("list_namespaces", lambda: catalog.list_namespaces() == [("releases",)])
    calls("namespace_exists", lambda: catalog.namespace_exists("releases") and not catalog.namespace_exists("none"))
    calls("list_tables", lambda: ("releases", TABLE) in catalog.list_tables("releases"))
    calls(
        "table_exists", lambda: catalog.table_exists(f"releases.{TABLE}") and not catalog.table_exists("releases.none")
    )
    calls("list_views", lambda: catalog.list_views("releases") == [])
    table = calls("load_table", lambda: catalog.load_table(f"releases.{TABLE}"))
    refresh = table.config["client.refresh-credentials-endpoint"]
    calls("the next credentials", lambda: get(refresh.removeprefix(BASE))["storage-credentials"])
    rows = manifest()["rows"]
    calls("count", lambda: table.scan().count() == rows)
    calls("to_arrow", lambda: table.scan(selected_fields=("price",)).to_arrow().num_rows == rows)
    calls("a filter", lambda: table.scan(row_filter="price_minor < 0").to_arrow().num_rows == 0)
    shown = ("entries", "files", "manifests", "snapshots", "partitions", "history", "refs")
    for name in shown:
        calls(f"inspect.{name}", lambda name=name: getattr(table.inspect, name)().num_rows)
    calls.refused("a missing table", lambda: catalog.load_table("releases.none"), "NoSuchTable")
    calls.refused("append", lambda: table.append(table.scan(limit=1).to_arrow()), "read-only")
    calls.refused("a wrong key", lambda: load("other", type="rest", uri=ORIGIN, token="wrong"), "NotAuthorized")
    oauth = {"type": "rest", "uri": ORIGIN, "credential": "id:secret"}
    calls.refused("a client's secret", lambda: load("third", **oauth).list_namespaces(), "`token`")


def duckdb(calls: Calls, folder: Path) -> None:
    library = importlib.import_module("duckdb")

    def connected(*extensions: str) -> Any:
        database = library.connect()
        for name in extensions:
            place = Path(importlib.import_module(f"duckdb_extension_{name}").__file__ or "").parent
            [file] = place.rglob(f"{name}.duckdb_extension")
            database.sql(f"LOAD '{file}'")
        return database

    document, made = manifest(), credentials()
    rows, version = document["rows"], document["data_version"]
    lake = connected("httpfs", "ducklake")
    header = f"MAP {{'Authorization': 'ApiKey {KEY}'}}"
    calls("a secret", lambda: lake.sql(f"CREATE SECRET (TYPE http, SCOPE '{BASE}', EXTRA_HTTP_HEADERS {header})"))
    attach = f"ATTACH 'ducklake:{BASE}/catalog/ducklake/latest.ducklake' AS it"
    calls("DuckLake: attach", lambda: lake.sql(attach) or True)
    calls("DuckLake: tables", lambda: lake.sql("SHOW TABLES FROM it").fetchall())
    calls("DuckLake: count", lambda: lake.sql(f"SELECT count(*) FROM it.{TABLE}").fetchall() == [(rows,)])
    at = f"SELECT sum(price) FROM it.{TABLE} AT (VERSION => {version})"
    total = calls("DuckLake: a version", lambda: lake.sql(at).fetchall())
    calls.refused("DuckLake: a write", lambda: lake.sql("DELETE FROM it.items"), "")
    iceberg = connected("avro", "httpfs", "iceberg")
    calls("Iceberg: a secret", lambda: iceberg.sql(f"CREATE SECRET s (TYPE iceberg, TOKEN '{KEY}')"))
    attach = f"ATTACH 'any' AS it (TYPE iceberg, ENDPOINT '{ORIGIN}', SECRET s)"
    calls("Iceberg: attach", lambda: iceberg.sql(attach) or True)
    calls("Iceberg: sum", lambda: iceberg.sql(f"SELECT sum(price) FROM it.releases.{TABLE}").fetchall() == total)
    s3 = connected("httpfs")
    secret = (
        f"CREATE SECRET (TYPE s3, KEY_ID '{made['access_key_id']}', SECRET '{made['secret_access_key']}', "
        f"SESSION_TOKEN '{made['session_token']}', REGION '{made['region']}', URL_STYLE 'path', USE_SSL false, "
        f"ENDPOINT '{made['endpoint'].partition('://')[2]}')"
    )
    calls("S3: a secret", lambda: s3.sql(secret))
    query = f"SELECT sum(price) FROM read_parquet('s3://releases/{PREFIX}*.parquet')"
    calls("S3: a glob", lambda: s3.sql(query).fetchall() == total)
    urls = [file["signed_url"] for file in document["files"]]
    calls("signed addresses", lambda: s3.sql(f"SELECT sum(price) FROM read_parquet({urls})").fetchall() == total)


def openapi_python_client(calls: Calls, folder: Path) -> None:
    """Its configuration file stands in FOLDER."""
    document, package = folder / "openapi.json", folder / "generated" / "item_index_client"
    document.write_bytes(urlopen(f"{BASE}/openapi.json").read())
    program = Path(sys.executable).with_name("openapi-python-client")
    options = ["--meta", "none", "--config", str(folder / "openapi_python_client.yaml"), "--output-path", str(package)]

    def generate() -> bool:
        command = [str(program), "generate", "--path", str(document), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        if "arning" in done.stdout + done.stderr:
            raise AssertionError(f"it left something out: {done.stdout[:800]}")
        return True

    calls("generate", generate)
    sys.path.insert(0, str(package.parent))
    library = importlib.import_module("item_index_client")
    [server] = json.loads(document.read_bytes())["servers"]
    client = library.AuthenticatedClient(base_url=server["url"], token=KEY, prefix="ApiKey")

    def call(module: str, **arguments: Any) -> Any:
        return importlib.import_module(f"item_index_client.api.{module}").sync(client=client, **arguments)

    calls("health", lambda: call("service.get_health").status == "ok")
    calls("root", lambda: call("account.get_root").version)
    calls("quota", lambda: call("account.get_quota").limits)
    found = calls("search", lambda: call("index.search_items", q="milk").data)
    calls("lookup", lambda: call("index.lookup_item", iid=found[0].iid).iid == found[0].iid)
    calls("channels", lambda: call("index.list_channels").data)
    calls("categories", lambda: call("index.list_categories").data)
    calls("brands", lambda: call("index.list_brands", limit=3).data)
    calls("prices", lambda: call("reports.get_pricing", iid=found[0].iid).meta.data_version)
    calls("datasets", lambda: call("datasets.list_datasets").data)
    problem = calls("no such item", lambda: call("index.lookup_item", iid="IID-00000-00000-00000"))
    calls("its problem", lambda: problem.status == 404)


def delta_sharing(calls: Calls, folder: Path) -> None:
    library, profile = importlib.import_module("delta_sharing"), folder / "item-index.share"
    profile.write_text(json.dumps(get("/delta-sharing/profile")))
    client, rows = library.SharingClient(str(profile)), manifest()["rows"]
    shares = calls("list_shares", client.list_shares)
    schemas = calls("list_schemas", lambda: client.list_schemas(shares[0]))
    calls("list_tables", lambda: [one.name for one in client.list_tables(schemas[0])].count(TABLE) == 1)
    calls("list_all_tables", client.list_all_tables)
    address = f"{profile}#item-index.releases."
    calls("the version", lambda: library.get_table_version(f"{address}{TABLE}"))
    calls("metadata", lambda: library.get_table_metadata(f"{address}{TABLE}"))
    calls("pandas", lambda: len(library.load_as_pandas(f"{address}{TABLE}")) == rows)
    calls("a limit", lambda: len(library.load_as_pandas(f"{address}{TABLE}", limit=7)) == 7)
    capitals = f"{profile}#ITEM-INDEX.Releases.{TABLE.upper()}"
    calls("names in capitals", lambda: len(library.load_as_pandas(capitals, limit=7)) == 7)
    newest = library.get_table_version(f"{address}brands")
    changes = {"starting_version": newest, "ending_version": newest}
    calls("changes", lambda: library.load_table_changes_as_pandas(f"{address}brands", **changes).shape[1])
    missing = f"{address}none"
    calls.refused("a missing table", lambda: library.load_as_pandas(missing), "RESOURCE_DOES_NOT_EXIST")


def mcp(calls: Calls, folder: Path) -> None:
    """With the address as clients are configured, with and without a slash behind it."""
    for address in (f"{ORIGIN}/mcp", f"{ORIGIN}/mcp/"):
        for mode in ("auto", "legacy"):
            asyncio.run(_mcp(calls, address, mode))


async def _mcp(calls: Calls, address: str, mode: str) -> None:
    client_of = importlib.import_module("mcp.client").Client
    transport = importlib.import_module("mcp.client.streamable_http").streamable_http_client
    http_client = importlib.import_module("mcp.shared._httpx_utils").create_mcp_http_client
    name = f"{address.removeprefix(ORIGIN)}, {mode}"
    try:
        async with http_client(headers={"Authorization": f"Bearer {KEY}"}) as http:
            async with client_of(transport(address, http_client=http), mode=mode) as client:
                tools = (await client.list_tools()).tools
                calls(f"{name}: list_tools", lambda: tools)
                found = await client.call_tool("find_items", {"query": "milk"})
                calls(f"{name}: find_items", lambda: not found.is_error and found.structured_content["items"])
                iid = found.structured_content["items"][0]["iid"]
                item = await client.call_tool("get_item", {"iid": iid})
                calls(f"{name}: get_item", lambda: item.structured_content["iid"] == iid)
                refused = await client.call_tool("get_item", {"iid": "x"})
                calls(f"{name}: a refusal", lambda: refused.is_error)
    except Exception as error:  # noqa: BLE001 - as in Calls
        traceback.print_exc()
        calls.failed.append(f"{name}: {type(error).__name__}: {error}"[:300])


def standardwebhooks(calls: Calls, folder: Path) -> None:
    """A receiver on loopback gets events, as many as there are, and the library verifies each."""
    library = importlib.import_module("standardwebhooks")
    arrived: list[tuple[bytes, dict[str, str]]] = []
    enough = threading.Event()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            arrived.append((body, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(204)
            self.end_headers()
            if len(arrived) >= len(events):
                enough.set()

        def log_message(self, format: str, *arguments: object) -> None:
            """Stay silent."""

    def post(path: str, body: dict[str, Any]) -> Any:
        head = {"Authorization": f"ApiKey {KEY}", "Content-Type": "application/json", "Idempotency-Key": path}
        with urlopen(Request(f"{BASE}{path}", json.dumps(body).encode(), head)) as answer:
            return json.load(answer)

    events = get("/events?limit=10")["data"][1:]
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        made = calls("a webhook", lambda: post("/webhooks", {"url": f"http://127.0.0.1:{server.server_port}/"}))
        first = get("/events?limit=1")["data"][0]["cursor"]
        replay = {"after": first, "to": events[-1]["cursor"]}
        calls("a replay", lambda: post(f"/webhooks/{made['id']}/replays", replay))
        calls("it arrives", lambda: enough.wait(DELIVERY_SECONDS))
        webhook = library.Webhook(made["secret"])
        for number, (body, headers) in enumerate(arrived):
            calls(f"notice {number}", lambda body=body, headers=headers: webhook.verify(body, headers))
        body, headers = arrived[0]
        calls.refused("another body", lambda: webhook.verify(body + b" ", headers), "WebhookVerificationError")
        other = library.Webhook("whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")  # pragma: allowlist secret
        calls.refused("another secret", lambda: other.verify(body, headers), "WebhookVerificationError")
    finally:
        server.shutdown()
        server.server_close()


def looked_up(iid: str) -> str:
    """Look an item up in a process of a pool."""
    library = importlib.import_module("itemindex_client")
    with library.Client(BASE, key=KEY) as client:
        return str(client.lookup(iid)["iid"])


def itemindex_client(calls: Calls, folder: Path) -> None:
    """The project's own client, alone and in the processes of a pool."""
    library = importlib.import_module("itemindex_client")
    with library.Client(BASE, key=KEY) as client:
        found = calls("search", lambda: list(client.search("milk", limit=5))[:5])
        iids = [hit["iid"] for hit in found]
        calls("lookup", lambda: client.lookup(iids[0])["iid"] == iids[0])
        calls("lookup_many", lambda: len(client.lookup_many(iids)) == len(iids))
        calls("channels", lambda: list(client.channels()))
        calls("quota", client.quota)
        calls("prices", lambda: client.prices(iids[0]).meta)
        calls("a download", lambda: list(client.release("brands").download(folder).iterdir()))
        calls("its keys", client.release_keys)
        calls.refused("no such item", lambda: client.lookup("IID-00000-00000-00000"), "NotFound")
    with ProcessPoolExecutor(2) as pool:
        calls("a pool", lambda: list(pool.map(looked_up, iids)) == iids)
        calls.refused("a refusal in a pool", pool.submit(looked_up, "IID-00000-00000-00000").result, "NotFound")
        calls("the pool after it", lambda: pool.submit(looked_up, iids[0]).result() == iids[0])


def main() -> None:
    warnings.simplefilter("ignore")
    calls, client = Calls(), globals()[sys.argv[1]]
    try:
        client(calls, Path(sys.argv[2]))
    except Exception as error:  # noqa: BLE001 - a call that failed leaves the next one without what it needs
        traceback.print_exc()
        calls.failed.append(f"ended by {type(error).__name__}: {error}"[:300])
    sys.stdout.write(json.dumps({"calls": calls.made, "failed": calls.failed}) + "\n")


if __name__ == "__main__":
    main()
