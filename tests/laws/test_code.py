"""Settings, metrics, log events and problems are declared once, and everything declared is used."""

import ast
import builtins
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import fields

from edge.http.catalogue import CATALOGUE
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import EVENTS
from tests.laws.sources import CODE, CODE_WITHOUT_SETTINGS, FOLDERS, PROJECT, SOURCES, trees


def test_each_setting_is_used_and_has_a_sentence() -> None:
    words = set(re.findall(r"\w+", CODE_WITHOUT_SETTINGS))
    for item in fields(Settings):
        assert {item.name, item.name.upper()} & words, f"{item.name} is used nowhere"
        assert re.fullmatch(r".{15,}\.", item.metadata["sentence"], re.DOTALL), item.name


def test_the_environment_is_read_in_one_place() -> None:
    # libpq reads variables by itself; those that would overrule a session's settings are taken out.
    allowed = {"shared/settings/settings.py", "deploy/gunicorn.conf.py", "shared/db/connect.py"}
    for path, text in SOURCES.items():
        name = str(path.relative_to(PROJECT))
        if name not in allowed and not name.startswith(("deploy/local/", "deploy/ctl/")):
            assert "os.environ" not in text and "getenv" not in text, name


def test_each_log_event_is_used_and_each_used_one_is_declared() -> None:
    used = set(re.findall(r"log(?:_of\(settings\))?\.(?:info|warning|error)\(\s*\"([a-z-]+)\"", CODE))
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


def kept_errors(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Name what modules and classes assign to a name although it is an error."""
    trees = list(trees)
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    errors = {
        name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)
    }
    before = 0
    while len(errors) > before:  # until no class is found whose base is one of them
        before = len(errors)
        errors |= {one.name for one in classes if errors & {ast.unparse(base).rpartition(".")[2] for base in one.bases}}
    for scope in [*trees, *classes]:
        for node in scope.body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in errors:
                yield ast.unparse(node)


def test_no_module_keeps_an_error_to_raise() -> None:
    example = ast.parse(
        "class Refused(ValueError): pass\nclass Gone(Refused): pass\nGONE: Gone = Gone(410)\nOTHER = f(1)"
    )
    assert list(kept_errors([example])) == ["GONE: Gone = Gone(410)"]
    assert list(kept_errors(trees().values())) == []
