"""Every example of the guide is run as it stands there, through nginx, by the tools that it names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from itemindex_client import Client

from tests.system.conftest import PROJECT
from tests.system.releases.conftest import Buyer

pytestmark = pytest.mark.xdist_group("stack")


GUIDE = (PROJECT / "docs" / "guides" / "bulk-data.md").read_text()

BEGINNING, *EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)

# Daft and Spark stand in the judges' environment: `make judge` runs their examples.
EXAMPLES = [text for text in EXAMPLES if not text.startswith(("import daft", "import pyspark"))]


@pytest.mark.parametrize("example", EXAMPLES, ids=[text.split()[1].strip(",") for text in EXAMPLES])
def test_the_example_works(buyer: Buyer, tmp_path: Path, example: str) -> None:
    environment = {**os.environ, "ITEMINDEX_URL": buyer.api, "ITEMINDEX_KEY": buyer.key}
    if "release-keys.json" in example:
        tmp_path = mirror(buyer, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING + example],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def mirror(buyer: Buyer, folder: Path) -> Path:
    """Return the folder of a downloaded release, with the keys beside its files."""
    with Client(buyer.api, key=buyer.key) as client:
        target = client.release("brands").download(folder)
        (target / "release-keys.json").write_text(json.dumps(client.release_keys()))
    return target


def test_the_first_example_alone_works_too() -> None:
    assert "signed_url" in BEGINNING and len(EXAMPLES) == 12
