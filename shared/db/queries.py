"""SQL lives in .sql files beside their owner, in blocks: `-- name: x`, then `-- why`, then one statement."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString, NamedTuple

_HEAD = re.compile(r"^-- name: (?P<name>[a-z][a-z0-9_]*)\s*$", re.MULTILINE)


class Query(NamedTuple):
    """One named statement with native `$1` placeholders, and the reason why it is as it is."""

    name: str
    why: str
    sql: LiteralString


class Queries:
    """The statements of one file, as attributes: `sql.lookup_item`. A name that is not there raises AttributeError."""

    def __init__(self, path: Path) -> None:
        self._queries = {query.name: query for query in parse(path.read_text(encoding="utf-8"), str(path))}

    def __getattr__(self, name: str) -> LiteralString:
        try:
            return self._queries[name].sql
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())


def parse(text: str, origin: str) -> list[Query]:
    """Split a file into its statements; raise ValueError where one has no reason or a name comes twice."""
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    queries = [_query(head["name"], text[head.end() : end], origin) for head, end in zip(heads, ends, strict=True)]
    if len({query.name for query in queries}) != len(queries):
        raise ValueError(f"{origin}: a name comes twice")
    return queries


def load_queries(module_file: str, name: str) -> Queries:
    """Load the .sql file beside a module: `load_queries(__file__, "lookup.sql")`."""
    return Queries(Path(module_file).with_name(name))


def _query(name: str, body: str, origin: str) -> Query:
    lines = body.strip().splitlines()
    why = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
    if not why:
        raise ValueError(f"{origin}: {name} gives no reason")
    sql = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
    return Query(name, " ".join(why), sql)
