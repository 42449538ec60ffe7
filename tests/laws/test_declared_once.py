"""Settings, metrics, log events and problems are declared once, and everything declared is used."""

import re
import subprocess
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from edge.http.faults import CATALOGUE
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import EVENTS

PROJECT = Path(__file__).parents[2]
FOLDERS = ("edge", "workers", "shared", "deploy")
# The client is a package of its own: it runs at customers' and reads its own variables; its types are generated.
CLIENT = PROJECT / "deploy/clients/python"
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for folder in FOLDERS
    for path in sorted((PROJECT / folder).rglob("*.py"))
    if not path.is_relative_to(CLIENT)
}
CODE = "\n".join(SOURCES.values())
CODE_WITHOUT_SETTINGS = "\n".join(text for path, text in SOURCES.items() if path.name != "config.py")


@pytest.mark.parametrize("name", [item.name for item in fields(Settings)])
def test_each_setting_is_used_and_has_a_sentence(name: str) -> None:
    assert re.search(rf"\b{name}\b|\b{name.upper()}\b", CODE_WITHOUT_SETTINGS), f"{name} is used nowhere"
    sentence = next(item.metadata["sentence"] for item in fields(Settings) if item.name == name)
    assert sentence.endswith(".") and len(sentence) > 15


def test_the_environment_is_read_in_one_place() -> None:
    allowed = {"shared/settings/settings.py", "deploy/gunicorn.conf.py"}
    for path, text in SOURCES.items():
        name = str(path.relative_to(PROJECT))
        if name not in allowed and not name.startswith(("deploy/local/", "deploy/ctl/")):
            assert "os.environ" not in text and "getenv" not in text, name


def test_each_log_event_is_used_and_each_used_one_is_declared() -> None:
    used = set(re.findall(r"log(?:_of\(settings\))?\.(?:debug|info|warning|error)\(\s*\"([a-z-]+)\"", CODE))
    used |= set(re.findall(r"getattr\(self\._log, level\)\(\"([a-z-]+)\"", CODE))
    assert used == set(EVENTS)


def test_each_metric_is_used_and_none_is_made_elsewhere() -> None:
    declared = {name for name, value in vars(metrics).items() if hasattr(value, "_documentation")}
    elsewhere = "\n".join(text for path, text in SOURCES.items() if path.name != "metrics.py")
    assert {name for name in declared if f"metrics.{name}" not in elsewhere} == set()
    assert not re.search(r"\b(Counter|Gauge|Histogram)\(\s*\"itemindex", elsewhere)


def test_each_problem_is_used_and_each_used_one_is_declared() -> None:
    quoted = set(re.findall(r"\"([a-z]+(?:-[a-z]+)+)\"", CODE)) & set(CATALOGUE)
    front = (PROJECT / "deploy/nginx/problems.js").read_text()
    by_nginx = set(re.findall(r"\d{3}: \[\"([a-z-]+)\"", front))
    assert by_nginx <= set(CATALOGUE)
    unused = set(CATALOGUE) - quoted - by_nginx
    assert unused == set()


def test_nginx_names_the_problems_of_the_catalogue_under_their_statuses() -> None:
    front = (PROJECT / "deploy/nginx/problems.js").read_text()
    found = re.findall(r"(\d{3}): \[\"([a-z-]+)\", \"([^\"]+)\"", front)
    assert len(found) > 15
    assert {slug: CATALOGUE[slug].status for _, slug, _ in found} == {slug: int(status) for status, slug, _ in found}
    # These phrases nginx writes into its status line as older documents had them; the title repeats the status line.
    older = {405, 408, 413, 414, 416, 503, 504}
    assert {int(status) for status, slug, title in found if CATALOGUE[slug].title != title} == older


def test_nothing_names_a_registry_or_a_machines_path() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=True, text=True).stdout
    hosts = re.compile("|".join(("py" + r"pi\.org", "python" + r"hosted\.", "npm" + r"js\.", r"deb\." + "debian")))
    for name in filter(None, listed.split("\0")):
        path = PROJECT / name
        if path.suffix in (".gz", ".png", ".ico", ".whl", ".tgz") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="surrogateescape")  # files to be loaded are of any encoding
        assert not hosts.search(text), name
        assert f"{PROJECT}/" not in text, name


def test_the_package_data_of_the_project_is_declared() -> None:
    document = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    kinds = {f"*{path.suffix}" for folder in FOLDERS for path in (PROJECT / folder).rglob("*") if path.is_file()}
    assert {"*.sql", "*.lua", "*.toml"} <= kinds & set(document["tool"]["setuptools"]["package-data"]["*"])
