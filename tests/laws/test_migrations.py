"""The limits of a migration: old code keeps working after it, and callers wait for none of it."""

import re

from shared.db.migrate import Migration, available
from tests.laws.sources import COMMENT, FOLDERS, PROJECT

# Applied before the service had users: these were free to lock tables.
FOUNDING = 10


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


def faults(step: Migration) -> list[str]:
    """Return what is wrong with a migration; contracting ones run when no old code does."""
    sql = COMMENT.sub("", _BODY.sub("", step.sql))
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
    assert [(step.name, fault) for step in available() for fault in faults(step)] == []


def test_no_query_depends_on_how_many_columns_a_table_has() -> None:
    """`SELECT *` from a table would answer otherwise, and a kept plan of it fail, as soon as a column is added."""
    for folder in FOLDERS:
        for path in (PROJECT / folder).rglob("*.sql"):
            if path.parent.name == "migrations":
                continue
            sql = COMMENT.sub("", path.read_text())
            wide = re.findall(r"(?:SELECT|RETURNING) (?:\w+\.)?\*\s+(?:FROM\s+(\w+))?", sql)
            tables = set(_MADE.findall("".join(step.sql for step in available())))
            assert not set(wide) & tables, path
