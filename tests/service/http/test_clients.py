"""GET /v1/clients/: the packages of both clients, and the command that installs each on every page with a sample."""

import hashlib
import io
import json
import tarfile
import zipfile

import pytest

from tests.support.client import Edge


@pytest.fixture
def edge(shared_edge: Edge) -> Edge:
    """One edge for all tests: they change no data."""
    return shared_edge


async def test_the_list_says_how_each_package_is_installed_from_this_service(edge: Edge) -> None:
    answer = await edge.get("/clients/", anonymous=False)
    assert (answer.status, answer.head["Content-Type"], answer.json["count"]) == (200, "application/json", 2)
    for entry, command in zip(answer.json["data"], ("pip", "npm"), strict=True):
        assert entry["install"] == f"{command} install {entry['url']}"
        assert entry["url"] == f"{edge.settings.base_url}/clients/{entry['file']}"
        file = await edge.get(f"/clients/{entry['file']}", anonymous=False)
        assert (file.status, len(file.body)) == (200, entry["bytes"])
        assert hashlib.sha256(file.body).hexdigest() == entry["sha256"]
    assert (await edge.get("/clients", anonymous=False)).json == answer.json


async def test_the_packages_are_a_wheel_and_a_tarball(edge: Edge) -> None:
    python, typescript = (await edge.get("/clients/", anonymous=False)).json["data"]
    wheel = await edge.get(f"/clients/{python['file']}", anonymous=False)
    assert "itemindex_client/client.py" in zipfile.ZipFile(io.BytesIO(wheel.body)).namelist()
    tarball = await edge.get(f"/clients/{typescript['file']}", anonymous=False)
    assert tarball.head["Content-Type"] == "application/gzip" and "Content-Encoding" not in tarball.head
    with tarfile.open(fileobj=io.BytesIO(tarball.body)) as archive:
        package = json.load(archive.extractfile("package/package.json"))
    assert package["version"] == typescript["version"] == python["version"]


async def test_another_file_is_not_found(edge: Edge) -> None:
    for name in ("nothing.whl", "..%2fclients.py"):
        assert (await edge.get(f"/clients/{name}", anonymous=False)).status == 404


async def test_every_page_with_a_sample_shows_the_commands(edge: Edge) -> None:
    for path in (
        "/clients/",
        "/docs",
        "/docs/guides/reports",
        "/docs/guides/bulk-data",
        "/docs/guides/tour",
        "/docs/guides/tutorial",
    ):
        page = (await edge.get(path, anonymous=False, head={"Accept": "text/html"})).body.decode()
        for entry in (await edge.get("/clients/", anonymous=False)).json["data"]:
            assert entry["install"] in page, path


async def test_each_sample_of_the_reference_begins_with_the_command(edge: Edge) -> None:
    reference = (await edge.get("/docs/reference/openapi.json", anonymous=False)).json
    samples = reference["paths"]["/v1/index/cohorts"]["get"]["x-codeSamples"]
    python, typescript = (await edge.get("/clients/", anonymous=False)).json["data"]
    assert samples[1]["source"].startswith(f"# {python['install']}\nfrom itemindex_client import Client\n")
    assert samples[2]["source"].startswith(f"// {typescript['install']}\nimport {{ Client }}")
