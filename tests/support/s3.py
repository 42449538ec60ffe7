"""An S3 service as a process of its own, on loopback."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import boto3

from deploy.local.paths import free_port
from shared.settings.settings import Settings

BUCKET, KEY_ID, SECRET, REGION = "item-index-tests", "tests", "a secret for tests", "us-east-1"
_READY_SECONDS = 30.0


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Run a server with one empty bucket for as long as the block lasts; the block gets its address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with (folder / "s3.log").open("wb") as log:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(address, process)
            client(address).create_bucket(Bucket=BUCKET)
            yield address
        finally:
            process.terminate()
            process.wait(10)


def in_bucket(settings: Settings, address: str) -> Settings:
    """Return settings whose results, exports and releases lie in the server's bucket."""
    return replace(
        settings,
        s3_bucket=BUCKET,
        s3_endpoint=address,
        s3_region=REGION,
        s3_access_key_id=KEY_ID,
        s3_secret_access_key=SECRET,
    )


def environment(address: str, setting: str) -> dict[str, str]:
    """Return the variables that name the server's bucket, by this setting."""
    keys = {"S3_ACCESS_KEY_ID": KEY_ID, "S3_SECRET_ACCESS_KEY": SECRET}
    return {setting: BUCKET, "S3_ENDPOINT": address, "S3_REGION": REGION, **keys}


def client(address: str) -> "boto3.client":
    """Return another library's client of the server, to look at it from outside."""
    return boto3.client(
        "s3", endpoint_url=address, region_name=REGION, aws_access_key_id=KEY_ID, aws_secret_access_key=SECRET
    )


def _wait(address: str, process: "subprocess.Popen[bytes]") -> None:
    ends = time.monotonic() + _READY_SECONDS
    while time.monotonic() < ends:
        assert process.poll() is None, "the S3 server ended"
        try:
            urllib.request.urlopen(f"{address}/moto-api/", timeout=2).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the S3 server does not answer")
