"""Delta Sharing, asked by the protocol's own client through nginx."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shared.bulk.schema import RELEASED
from tests.system.conftest import PROJECT
from tests.system.releases.conftest import Buyer

pytestmark = pytest.mark.xdist_group("stack")


# A process of its own: the client warns of what its own dependencies deprecate.
CLIENT = """
import json, sys
import delta_sharing
profile = sys.argv[1]
table = profile + "#item-index.releases."
client = delta_sharing.SharingClient(profile)
version = delta_sharing.get_table_version(table + "items")
items = delta_sharing.load_as_pandas(table + "items")
seen = delta_sharing.load_as_pandas(table + "observations", version=version)
some = delta_sharing.load_as_pandas(table + "observations", limit=7)
came = delta_sharing.load_table_changes_as_pandas(table + "brands", starting_version=1)
print(json.dumps({
    "shares": [share.name for share in client.list_shares()],
    "schemas": [schema.name for schema in client.list_schemas(client.list_shares()[0])],
    "tables": sorted(table.name for table in client.list_all_tables()),
    "version": version, "items": len(items), "seen": len(seen), "some": len(some), "came": len(came),
    "columns": list(seen.columns), "brands": items["brand"].dtype.name, "change": came["_change_type"].unique().tolist(),
    "known": bool(seen["iid"].isin(items["iid"]).all()),
}))
"""


def test_the_protocols_own_client_reads_everything(buyer: Buyer, tmp_path: Path) -> None:
    profile = tmp_path / "item-index.share"
    with buyer.get("/delta-sharing/profile") as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        profile.write_bytes(answer.read())
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(profile)],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout.splitlines()[-1])
    manifests = {name: buyer.manifest(name) for name in ("items", "observations", "brands")}
    assert (reported["shares"], reported["schemas"]) == (["item-index"], ["releases"])
    assert reported["tables"] == sorted(RELEASED)
    assert reported["version"] == manifests["items"]["data_version"]
    assert (reported["items"], reported["seen"], reported["some"]) == (
        manifests["items"]["rows"],
        manifests["observations"]["rows"],
        7,
    )
    assert reported["columns"] == [column["name"] for column in manifests["observations"]["schema"]]
    assert reported["brands"] == "category" and reported["known"]
    assert (reported["came"], reported["change"]) == (manifests["brands"]["rows"], ["insert"])
