"""Laws of the code: declarations, clocks, pure modules, printed text, SQL, migrations, dependencies."""

import ast
import builtins
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import psycopg
import pytest
from packaging.version import Version

from edge.http.problems import CATALOGUE
from shared.db import migrate
from shared.db.connect import connect
from shared.db.migrate import Migration, available
from shared.db.queries import Queries, Query, parse
from shared.settings.settings import Settings
from shared.telemetry import metrics
from shared.telemetry.log import EVENTS
from tests.support.schema import KEPT, dump
from workers.ingest.load import SQL as MERGE
from workers.ingest.stage import SQL as STAGE
from workers.provenance.items import SQL as ITEMS

# Settings, metrics, log events and problems are declared once, and everything declared is used.


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

CODE_WITHOUT_SETTINGS = "\n".join(text for path, text in SOURCES.items() if path.name != "settings.py")


@cache
def trees() -> dict[Path, ast.Module]:
    """Parse every source, once and only where a test asks: each process of tests imports this module."""
    return {path: ast.parse(text) for path, text in SOURCES.items()}


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


# Who reads which clock: what the drills step is all there is.


TEXTS = {
    path.relative_to(PROJECT): path.read_text()
    for folder in ("edge", "workers", "shared")
    for path in sorted((PROJECT / folder).rglob("*"))
    if path.suffix in (".lua", ".sql", ".py")
}

# Keywords, which no function of another schema can stand for.
KEYWORD = re.compile(r"\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b", re.IGNORECASE)


def test_the_charge_script_alone_reads_the_state_stores_clock() -> None:
    read = [str(path) for path, text in TEXTS.items() if re.search(r"""["']TIME["']""", text)]
    assert read == ["edge/quota/take.lua"]


def test_no_sql_reads_postgresqls_clock_by_a_keyword() -> None:
    assert [str(path) for path, text in TEXTS.items() if path.suffix == ".sql" and KEYWORD.search(text)] == []
    assert KEYWORD.search("DEFAULT CURRENT_TIMESTAMP,")


# A module that says it is pure decides without I/O: no driver in it, nor in anything that it imports to run.


DRIVERS = ("aiohttp", "asyncpg", "billiard", "celery", "gunicorn", "kombu", "obstore", "psycopg", "redis", "uvloop")


def pure_modules() -> list[str]:
    """Return the modules whose docstring ends a sentence with the one word Pure."""
    found = []
    for path, tree in trees().items():
        text = ast.get_docstring(tree) or ""
        if re.search(r"(^|[.:;] )Pure\b", text):
            found.append(".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"))
    return found


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """What imports what; imports for annotations alone do not count."""
    return grimp.build_graph(*FOLDERS, include_external_packages=True, exclude_type_checking_imports=True)


def chains(imports: grimp.ImportGraph, modules: list[str]) -> list[str]:
    """Return how each of these modules reaches a driver."""
    return [
        " -> ".join(chain)
        for module in modules
        for driver in DRIVERS
        if driver in imports.modules and (chain := imports.find_shortest_chain(module, driver))
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_driver_in_a_pure_module(imports: grimp.ImportGraph) -> None:
    modules = pure_modules()
    assert len(modules) > 40
    assert chains(imports, modules) == []


# Whatever the command line prints goes through deploy/terminal.py, which reads no text of others as markup.


PRINTING = sorted((PROJECT / "deploy/ctl").glob("*.py"))

TERMINAL = "deploy/terminal.py"

# What is printed as it is: secrets that were just made, to be copied; documents of ours; tables whose cells are text.
RAW_ECHO = {
    "accounts.py",
    "secrets.py",
    "nginx.py",
    "reference.py",
    "webhooks.py",
}

# The two ways round it that console.py offers: the callers of `report` and `reveal` are held to the same rules.
CONSOLE_ECHO, CONSOLE_SAY = "text", "sentence"

RAW_PRINT = {("top.py", "frame"), ("console.py", "table")}

SAFE = {"safe", "printable", "printable_lines"}


def faults(source: str, name: str) -> Iterator[str]:
    """Name each call of a file that may print text of others as it is."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        last = called.rpartition(".")[2]
        first = node.args[0] if node.args else None
        where = f"{name}:{node.lineno}: {called}"
        if called in ("Console", "Table", "Panel", "rich.print") or called == "print":
            yield f"{where} goes round {TERMINAL}"
        elif last in ("print", "log", "rule") and called.split(".")[0] in ("console", "errors"):
            printed = first.func if isinstance(first, ast.Call) else first
            if printed is None or (name, ast.unparse(printed)) not in RAW_PRINT:
                yield f"{where} goes round {TERMINAL}"
        elif name == "console.py" and (called, ast.unparse(first or node)) in (
            ("click.echo", CONSOLE_ECHO),
            ("console.say", CONSOLE_SAY),
        ):
            continue
        elif called == "reveal" and name not in RAW_ECHO:
            yield f"{where} prints text as it is"
        elif last in ("say", "report") and not (isinstance(first, ast.Constant) or _is_local_template(source, first)):
            yield f"{where} has a template that is no literal"
        elif last in ("add_task", "status") or called == "status.update":
            if not (isinstance(first, ast.Constant) or _calls(first, SAFE)):
                yield f"{where} shows text that is not safe()"
        elif called == "click.echo" and name not in RAW_ECHO and not _calls(first, {"json.dumps", *SAFE}):
            yield f"{where} prints text as it is"


def _calls(node: ast.expr | None, allowed: set[str]) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in allowed


def _is_local_template(source: str, node: ast.expr | None) -> bool:
    """Whether a name is only ever set to a literal in its file."""
    if not isinstance(node, ast.Name):
        return False
    values = [
        assigned.value
        for assigned in ast.walk(ast.parse(source))
        if isinstance(assigned, ast.Assign) and any(ast.unparse(target) == node.id for target in assigned.targets)
    ]
    return bool(values) and all(isinstance(value, ast.Constant) for value in values)


def test_nothing_is_printed_past_the_terminal() -> None:
    assert len(PRINTING) > 15
    assert [fault for path in PRINTING for fault in faults(path.read_text(), path.name)] == []


# Raised again and again, an error that a module keeps gathers the frames of all who raised it, with their requests.


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


# Every named query is valid SQL for the schema, and says why it is there.


FILES = sorted(
    path
    for folder in FOLDERS
    for path in (PROJECT / folder).rglob("*.sql")
    if path.parent.name != "migrations" and path != KEPT and not path.name.endswith(".duckdb.sql")
)

# A literal that begins like a statement. What follows is a fragment that a named statement is put together with, the
# bookkeeping of migrations themselves, or runs before there is a schema.
INLINE = re.compile(r"""["'](?:SELECT|INSERT|UPDATE|DELETE|WITH|TRUNCATE|MERGE)\s""")

MAY_BE_INLINE = {
    "shared/db/migrate.py",
    "deploy/local/postgres.py",
    "deploy/ctl/accounts.py",
    "edge/bulk/exports.py",
    "edge/storage/monitor.py",
    "workers/search/build.py",
    "workers/analytics/rollups/refresh.py",
    "workers/ingest/load.py",
    "workers/provenance/items.py",
    "workers/provenance/standing.py",
    "workers/provenance/undo.py",
}

# Tables that exist only inside a load's transaction.
TEMPORARY = (
    "new_items",
    "merged",
    "changed_observations",
    "stage_items",
    "stage_impacts",
    "stage_observations",
)

# Made of a query that differs by caller.
IDENTIFYING = "CREATE TEMP TABLE identifying (item_id bigint)"

TABLES_OF_A_LOAD = [query.sql for query in STAGE if query.sql.startswith("CREATE")]
LOAD_SETUP = ("newest_staged", "resolved", "observations")


def _statements() -> list[tuple[str, Query]]:
    return [(str(path.relative_to(PROJECT)), query) for path in FILES for query in Queries(path)]


def test_each_query_can_be_prepared(settings: Settings) -> None:
    assert len(FILES) > 50
    for path in FILES:
        prepare(settings, path)


def prepare(settings: Settings, path: Path) -> None:
    """Prepare every query of a file, beside what it has in its transaction."""
    with connect(settings.database_url, application="laws") as connection:
        connection.execute("SELECT 1")  # begins the one transaction that temporary tables live in
        if path.name in ("load.sql", "undo.sql"):
            for query in TABLES_OF_A_LOAD:
                connection.execute(query)
            for statement in (ITEMS.seeds, ITEMS.affected, ITEMS.refreshing):
                connection.execute(statement)
        if path.name == "identifiers.sql":
            connection.execute(IDENTIFYING)
        if path.match("workers/events/watches.sql"):
            for statement in (*TABLES_OF_A_LOAD, MERGE.observations):
                connection.execute(statement)
        for n, query in enumerate(Queries(path)):
            statement = query.sql.replace("{table}", "observations")
            if statement.startswith("SET "):  # some only where a transaction begins, and none can be prepared
                with connect(settings.database_url, application="laws") as fresh:
                    fresh.execute(statement)
                continue
            if statement.lstrip().startswith(("CREATE", "ANALYZE")):
                values = (None,) * max((int(number) for number in re.findall(r"\$([0-9]+)", statement)), default=0)
                with connection.transaction():
                    connection.execute(statement, values or None)
                continue
            connection.execute(f"PREPARE q{n} AS {statement}")


def test_no_statement_is_hidden_in_code() -> None:
    found = {str(path.relative_to(PROJECT)) for path, text in SOURCES.items() if INLINE.search(text)}
    assert found - MAY_BE_INLINE == set(), "put the statement into the .sql file beside the module"
    assert MAY_BE_INLINE - found == set(), "this exception is no longer needed"


def test_the_schema_as_kept_is_what_the_migrations_make(settings: Settings) -> None:
    assert KEPT.read_text() == dump(settings.database_url), "run `make schema` and read what changed"


def test_names_are_unique_and_reasons_are_given() -> None:
    assert _statements()
    for origin, query in _statements():
        assert len(query.why) > 10, f"{origin}: {query.name}"
    with pytest.raises(ValueError, match="no reason"):
        parse("-- name: a\nSELECT 1", "here")


# The function of the schema, or the file of statements, that takes a lock of a fixed key; releasing it takes none.
LOCKING = re.compile(r"pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?\((\d+)\)")


def test_each_fixed_advisory_key_has_one_purpose() -> None:
    """Two purposes under one key wait for one another: a commit for an hour's build of a release, once."""
    texts = {str(path.relative_to(PROJECT)): path.read_text() for path in FILES}
    for body in KEPT.read_text().split("CREATE FUNCTION ")[1:]:
        texts[body.partition("(")[0]] = body
    takers: dict[int, set[str]] = {migrate._LOCK_KEY: {"shared/db/migrate.py"}}
    for name, text in texts.items():
        for key in LOCKING.findall(_COMMENT.sub("", text)):
            takers.setdefault(int(key), set()).add(name)
    assert len(takers) > 4
    assert {key: names for key, names in takers.items() if len(names) > 1} == {}


def test_migrations_applied_twice_are_applied_once(settings: Settings) -> None:
    with connect(settings.database_url, application="laws") as connection:
        assert migrate.migrate(connection) == []
        assert migrate.pending(connection) == []


def test_the_edges_role_can_read_and_not_write(settings: Settings) -> None:
    with connect(settings.edge_database_url, application="laws") as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchone() == (0,)
        for statement in (
            "DELETE FROM items",
            "UPDATE plans SET rank = 9",
            "SELECT * FROM rejects",
            "DROP TABLE items",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


# What would outlive a statement's transaction: the edge's pool does not clean a session up between two borrowers.
SESSION_STATE = re.compile(
    r"\b(LISTEN|UNLISTEN|DISCARD|PREPARE|DECLARE|TEMP|TEMPORARY|set_config|pg_(?:try_)?advisory_lock(?:_shared)?)\b"
    r"|\bSET\s+SESSION\b",
    re.IGNORECASE,
)


def test_no_statement_of_the_edge_leaves_anything_in_its_session() -> None:
    files = [path for path in FILES if path.is_relative_to(PROJECT / "edge")]
    assert len(files) > 10
    code = {path: re.sub(r"--[^\n]*", "", path.read_text()) for path in files}
    assert [path.name for path, text in code.items() if SESSION_STATE.search(text)] == []
    assert SESSION_STATE.search("SELECT pg_advisory_lock(1)")
    assert not SESSION_STATE.search("SELECT pg_advisory_xact_lock(1)")


# The limits of a migration: old code keeps working after it, and callers wait for none of it.


# Applied before the service had users: these were free to lock tables.
FOUNDING = 10

_COMMENT = re.compile(r"--[^\n]*")

_BODY = re.compile(r"\$\$.*?\$\$", re.DOTALL)

_MADE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)

_MADE_FUNCTION = re.compile(r"CREATE FUNCTION (\w+)", re.IGNORECASE)

BREAKS_OLD_CODE = (
    (r"\bDROP (TABLE|COLUMN|VIEW|FUNCTION|TYPE|SCHEMA|SEQUENCE)\b", "drops what old code may use"),
    (r"\bRENAME\b", "renames what old code calls otherwise"),
    (r"\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b", "changes a type under old code, and rewrites the table"),
    (r"\bSET NOT NULL\b", "refuses rows that old code writes"),
    (r"\bADD COLUMN (IF NOT EXISTS )?\w+ [^,;]*NOT NULL(?![^,;]*\bDEFAULT\b)(?<!DEFAULT)", "refuses rows of old code"),
    (r"\bREVOKE\b", "takes a right away that old code needs"),
    (r"\b(DELETE FROM|TRUNCATE)\b", "loses rows"),
)

HOLDS_LOCKS = (
    (r"\bCREATE (UNIQUE )?INDEX (?!CONCURRENTLY)\w+ ON (?P<table>\w+)", "builds an index while writes are blocked"),
    (
        r"\bALTER TABLE (?P<table>\w+)[^;]*ADD (CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY)(?![^;]*NOT VALID)",
        "reads a whole table while it is locked; add it NOT VALID",
    ),
    (r"\bADD COLUMN [^,;]*DEFAULT (gen_random_uuid|uuidv7|random|clock_timestamp)", "rewrites the whole table"),
    (r"\bLOCK TABLE\b", "locks"),
    (r"\bVACUUM FULL|CLUSTER\b", "rewrites the whole table"),
)


def faults_migrations(step: Migration) -> list[str]:
    """Return what is wrong with a migration; contracting ones run when no old code does."""
    sql = _COMMENT.sub("", _BODY.sub("", step.sql))
    made = set(_MADE.findall(sql))
    for function in _MADE_FUNCTION.findall(sql):  # a right that was never used may be revoked
        sql = re.sub(rf"REVOKE ALL ON FUNCTION {function}\([^)]*\) FROM PUBLIC;", "", sql)
    rules = BREAKS_OLD_CODE if step.phase == "expand" else ()
    found = [why for rule, why in rules if re.search(rule, sql, re.IGNORECASE)]
    if "CONCURRENTLY" in sql and sql.strip().count(";") > 1:
        found.append("has more than the one statement that runs outside a transaction")
    if step.number > FOUNDING:
        for rule, why in HOLDS_LOCKS:
            for match in re.finditer(rule, sql, re.IGNORECASE):
                if match.groupdict().get("table") not in made:
                    found.append(why)
    return found


def test_each_migration_leaves_old_code_working() -> None:
    assert len(available()) > FOUNDING
    assert [(step.name, fault) for step in available() for fault in faults_migrations(step)] == []


def test_no_query_depends_on_how_many_columns_a_table_has() -> None:
    """`SELECT *` from a table would answer otherwise, and a kept plan of it fail, as soon as a column is added."""
    for folder in FOLDERS:
        for path in (PROJECT / folder).rglob("*.sql"):
            if path.parent.name == "migrations":
                continue
            sql = _COMMENT.sub("", path.read_text())
            wide = re.findall(r"(?:SELECT|RETURNING) (?:\w+\.)?\*\s+(?:FROM\s+(\w+))?", sql)
            tables = set(_MADE.findall("".join(step.sql for step in available())))
            assert not set(wide) & tables, path


# What is installed is what was locked, byte for byte, and nothing of it is known to be bad.
#
# A list of advisories needs a network that the tests do not have; people keep these floors, from the advisories that
# concern what this service is built of.


LOCKS = sorted(PROJECT.glob("requirements*.lock"))

OURS = {*FOLDERS, "itemindex_client"}

PACKAGE = re.compile(
    r"^(?P<name>[A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)(?P<rest>[^\n]*(?:\n    [^\n]*)*)", re.MULTILINE
)

# The first version without the hole, and what the hole was.
FLOORS = {
    "aiohttp": ("3.14.5", "request smuggling, unbounded pipelining and headers in what came before"),
    "pyjwt": ("2.15", "an unknown `crit` accepted; the key's algorithm not held against the token's"),
    "gunicorn": ("26.1", "framing faults, and restarts that drop connections"),
    "celery": ("5.6", "the broker's password in its own log"),
    "jinja2": ("3.1.6", "a way out of the sandbox"),
    "cryptography": ("44.0.1", "an OpenSSL that was vulnerable inside the wheel"),
    "urllib3": ("2.5", "redirects followed where they were switched off"),
    "requests": ("2.32.4", "credentials of .netrc sent to another host"),
    "h11": ("0.16", "chunked bodies read loosely: request smuggling"),
    "h2": ("4.3", "header values with line ends: request splitting"),
    "werkzeug": ("3.1.4", "multipart bodies without a bound; device names as file names"),
    "setuptools": ("78.1.1", "a path that leaves its folder"),
}


def locked(path: Path) -> dict[str, tuple[str, str]]:
    """Return each package of a lock file with its version and what follows it."""
    found = PACKAGE.finditer(path.read_text(encoding="utf-8"))
    return {re.sub(r"[-_.]+", "-", m["name"]).lower(): (m["version"], m["rest"]) for m in found}


def imported(tree: ast.Module) -> set[str]:
    """Return the names of the top-level packages that a source file imports, at any depth of its code."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_the_product_imports_nothing_that_its_own_lock_file_does_not_install() -> None:
    """What only the tests' environment holds, the tests themselves among it, fails to be imported at a user's."""
    packages = locked(PROJECT / "requirements.lock")
    sources = packages_distributions()
    checked, missing = 0, []
    for path, tree in trees().items():
        for name in imported(tree) - sys.stdlib_module_names - OURS:
            checked += 1
            installed = {re.sub(r"[-_.]+", "-", package).lower() for package in sources.get(name, ())}
            if name == "tests" or not installed & set(packages):  # some packages bring tests of their own
                missing.append(f"{path.relative_to(PROJECT)}: {name}")
    assert checked > 100
    assert missing == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_package_is_pinned_by_version_and_hash(path: Path) -> None:
    packages = locked(path)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(packages) > 50
    assert len([line for line in lines if "==" in line]) == len(lines)
    assert [name for name, (_, rest) in packages.items() if "--hash=sha256:" not in rest] == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_no_package_is_older_than_its_last_known_hole(path: Path) -> None:
    packages = locked(path)
    bad = {
        name: why
        for name, (floor, why) in FLOORS.items()
        if name in packages and Version(packages[name][0]) < Version(floor)
    }
    assert bad == {}


def test_every_minimum_version_is_of_a_package_in_use() -> None:
    everything = {name for path in LOCKS for name in locked(path)}
    assert set(FLOORS) - everything == set()
