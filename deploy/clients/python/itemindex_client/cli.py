"""`ixc`: the API from a shell, as tables or JSON."""

# ruff: noqa: T201 - printing is what it is for

import argparse
import itertools
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from itemindex_client.client import Client
from itemindex_client.errors import ItemIndexError

_REPORTS = ("cohorts", "category_insights", "brand_insights", "price_index", "reductions", "sustainability_rollup")
_WIDTH_MAX = 48


def main(arguments: list[str] | None = None) -> None:
    """Run a command; an error is one line on standard error and exit code 1."""
    options = _parser().parse_args(arguments)
    try:
        with Client(options.url, key=options.key) as client:
            options.run(client, options)
    except (ItemIndexError, TimeoutError) as error:
        sys.exit(f"ixc: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ixc", description=__doc__, epilog='example: ixc search "soy milk" --limit 5')
    parser.add_argument("--url", help="address of the API with /v1; default: ITEMINDEX_URL")
    parser.add_argument("--key", help="API key; better in ITEMINDEX_KEY, where no list of processes shows it")
    commands = parser.add_subparsers(required=True, metavar="command")
    _command(commands, "lookup", _lookup, "the record of an IID").add_argument("iid")
    resolve = _command(commands, "resolve", _resolve, "the record of an identifier: gtin=…, isbn=…, mpn=… brand=…")
    resolve.add_argument("identifiers", nargs="+", type=_pair, metavar="name=value")
    search = _command(commands, "search", _search, "items by words")
    search.add_argument("q")
    search.add_argument("--limit", type=int, default=20, help="how many hits; default: 20")
    report = _command(commands, "report", _report, "a paid report, in the words of its parameters")
    report.add_argument("name", choices=_REPORTS)
    report.add_argument("parameters", nargs="*", type=_pair, metavar="name=value")
    export = _command(commands, "export", _export, "order an export and print its files")
    export.add_argument("dataset")
    export.add_argument("--format", default="csv")
    fetch = _command(commands, "fetch", _fetch, "download a release; run again, it continues")
    fetch.add_argument("dataset")
    fetch.add_argument("--release", default="latest")
    fetch.add_argument("--to", default=".")
    return parser


def _command(commands: Any, name: str, run: Any, sentence: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=sentence, description=sentence)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.set_defaults(run=run)
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"write name=value, not {text!r}")
    return name, value


def _lookup(client: Client, options: argparse.Namespace) -> None:
    _one(client.lookup(options.iid), as_json=options.json)


def _resolve(client: Client, options: argparse.Namespace) -> None:
    _one(client.resolve(**dict(options.identifiers)), as_json=options.json)


def _search(client: Client, options: argparse.Namespace) -> None:
    hits = list(itertools.islice(client.search(options.q, limit=min(options.limit, 100)), options.limit))
    _table(hits, ("iid", "name", "brand"), as_json=options.json)


def _report(client: Client, options: argparse.Namespace) -> None:
    question = dict(options.parameters)
    report = getattr(client.report, options.name)(**question).wait(progress=_progress)
    if options.json:
        print(json.dumps({"data": report.rows, "meta": report.meta}, indent=1, ensure_ascii=False))
        return
    names = [
        name for name, value in (report.rows[0] if report.rows else {}).items() if not isinstance(value, dict | list)
    ]
    _table(report.rows, tuple(names), as_json=False)


def _export(client: Client, options: argparse.Namespace) -> None:
    done = client.export(dataset=options.dataset, format=options.format, progress=_progress)
    if options.json:
        print(json.dumps(done, indent=1, ensure_ascii=False))
        return
    for file in (done.get("manifest") or done)["files"]:
        print(file.get("signed_url") or file["url"])


def _fetch(client: Client, options: argparse.Namespace) -> None:
    release = client.release(options.dataset, options.release)
    total, reached = int(release.manifest["bytes"]), 0

    def counted(count: int) -> None:
        nonlocal reached
        reached += count
        _progress(reached / total if total else 1.0, f"{reached:,} of {total:,} bytes")

    target = release.download(options.to, progress=counted)
    _clear()
    if options.json:
        print(json.dumps({"folder": str(target), "rows": release.manifest["rows"], "bytes": total}))
    else:
        print(f"{release.manifest['rows']:,} rows in {target}")


def _one(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(record, indent=1, ensure_ascii=False))
        return
    for name, value in record.items():
        if not isinstance(value, dict | list):
            print(f"{name:16} {_safe(value)}")


def _table(rows: Iterable[dict[str, Any]], names: tuple[str, ...], *, as_json: bool) -> None:
    listed = list(rows)
    if as_json:
        print(json.dumps(listed, indent=1, ensure_ascii=False))
        return
    cells = [names, *(tuple(_safe(_named(row.get(name))) for name in names) for row in listed)]
    widths = [min(_WIDTH_MAX, max(len(row[column]) for row in cells)) for column in range(len(names))]
    for row in cells:
        print("  ".join(cell[:width].ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _named(value: Any) -> Any:
    return value.get("name") if isinstance(value, dict) else value


def _safe(value: Any) -> str:
    """Return a value as text without control characters: names are other people's, and this is a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str("–" if value is None else value))


def _progress(fraction: float, stage: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{fraction:4.0%} {_safe(stage)}", end="", file=sys.stderr, flush=True)
        if fraction >= 1:
            _clear()


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
