"""`ixc`: the API from a shell, as tables or JSON."""

# ruff: noqa: T201 - printing is what it is for

import argparse
import itertools
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Required, get_args, get_origin, get_overloads, get_type_hints

from itemindex_client.client import Client
from itemindex_client.downloads import check_export_folder, download_export, read_keys, verify
from itemindex_client.errors import ItemIndexError
from itemindex_client.reports import Reports
from itemindex_client.settings import VERSION
from itemindex_client.tables import UnusableTable, match_table

_WIDTH_MAX, _HELP_WIDTH = 48, 100
_PAGE_MAX = 50
# The filters of an export that are lists also of one value.
_SEVERAL = ("brand", "category", "channel")
_MATCHED_COLUMNS = {
    "name": "names",
    "brand": "brands",
    "gtin": "GTINs, EANs, UPCs or ISBNs",
    "mpn": "makers' part numbers",
    "size": "sizes, such as 330 ml",
}


def main(arguments: list[str] | None = None) -> None:
    """Run a command; an error is one line on standard error and exit code 1."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    # argparse takes the values of a list only before the first option.
    if rest:
        if not hasattr(options, "pairs") or any(one[0] in "-=" or "=" not in one for one in rest):
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        options.pairs += map(_pair, rest)
    try:
        if options.run is _verify:  # a mirror is checked where no service can be reached
            _verify(options)
        else:
            with Client(options.url, key=options.key) as client:
                options.run(client, options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has enough; the interpreter would flush once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ItemIndexError, OSError) as error:
        sys.exit(f"ixc: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ixc", description=__doc__, epilog='example: ixc search "soy milk" --limit 5')
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    parser.add_argument("--url", help="address of the API, such as https://example.org/v1; default: ITEMINDEX_URL")
    parser.add_argument(
        "--key", help="API key; safer in ITEMINDEX_KEY, because other users can see a command's options"
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    _command(commands, "lookup", _lookup, "look up an item by its IID").add_argument("iid")
    resolve = _command(
        commands, "resolve", _resolve, "look up an item by another identifier: gtin=…, isbn=…, mpn=… brand=…"
    )
    resolve.add_argument("pairs", nargs="+", type=_pair, metavar="name=value")
    search = _command(commands, "search", _search, "search items")
    search.add_argument("q")
    search.add_argument("pairs", nargs="*", type=_pair, metavar="name=value", help="brand, category or product_type")
    search.add_argument("--limit", type=_count, default=20, help="number of hits; default: 20")
    sentence = "run a paid report; `ixc report NAME --help` lists its parameters"
    reports = commands.add_parser("report", help=sentence, description=sentence)
    names = reports.add_subparsers(required=True, metavar="NAME", dest="name")
    for name in (name for name in vars(Reports) if not name.startswith("_")):
        report = _command(names, name.replace("_", "-"), _report, str(getattr(Reports, name).__doc__))
        names.choices[name] = report  # as the methods of the client spell it
        report.add_argument("pairs", nargs="*", type=_pair, metavar="name=value")
        report.formatter_class = argparse.RawDescriptionHelpFormatter
        report.epilog = "\n".join(["parameters; repeat one to give several values:", *_parameters(name)])
    export = _command(commands, "export", _export, "create an export, and download its files or print their addresses")
    export.add_argument("dataset")
    sentence = "brand, category, channel, from or to; repeat one to give several values"
    export.add_argument("pairs", nargs="*", type=_pair, metavar="name=value", help=sentence)
    export.add_argument("--format", default="csv", help="csv, ndjson, parquet or arrow; default: csv")
    export.add_argument("--since", type=int, metavar="DATA_VERSION", help="only what changed after this data_version")
    export.add_argument(
        "--until", type=int, metavar="DATA_VERSION", help="with --since, of a dataset of changes: up to it"
    )
    export.add_argument(
        "--to", type=Path, help="download the files to this empty or new folder; default: print their addresses"
    )
    match = _command(commands, "match", _match, "match the rows of a CSV file with items; run it again to resume")
    match.add_argument("file", type=Path, metavar="FILE.csv")
    match.add_argument(
        "--to", type=Path, required=True, help="file to write: the rows with iid, matched_name, score, match"
    )
    for name, meaning in _MATCHED_COLUMNS.items():
        match.add_argument(f"--{name}", metavar="COLUMN", help=f"column of the {meaning}")
    fetch = _command(commands, "fetch", _fetch, "download a release; run it again to resume")
    fetch.add_argument("dataset")
    fetch.add_argument("--release", default="latest")
    fetch.add_argument("--to", default=".")
    verify = _command(commands, "verify", _verify, "check the signature and digests of a downloaded release")
    verify.add_argument("folder", type=Path, help="folder of one release, as `fetch` creates it")
    verify.add_argument(
        "--keys", type=Path, help="saved copy of /.well-known/release-keys.json; default: fetch it from the service"
    )
    return parser


def _command(commands: Any, name: str, run: Any, sentence: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=sentence, description=sentence)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.set_defaults(run=run)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {text!r}")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"write name=value, not {text!r}")
    return name.replace("-", "_"), value


def _parameters(report: str) -> Iterator[str]:
    """Return a paragraph for each parameter of a report: what it is and what it allows."""
    method = getattr(Reports, report)
    signatures = [get_type_hints(one, include_extras=True) for one in get_overloads(method) or [method]]
    declared = {name: "Only this one; default: all" for one in signatures for name in one if one[name] is str}
    for signature in signatures:
        for name, stated in get_type_hints(get_args(signature["query"])[0], include_extras=True).items():
            hint = get_args(stated)[0] if get_origin(stated) is Required else stated
            declared.setdefault(name.rstrip("_"), "; ".join([hint.__metadata__[0], *_choices(hint.__origin__)]))
    for name, text in declared.items():
        first = f"  {name:<17} "
        yield textwrap.fill(
            text, _HELP_WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False
        )


def _choices(kind: Any) -> list[str]:
    choices = next((get_args(one) for one in (kind, *get_args(kind)) if get_origin(one) is Literal), ())
    return [f"one of {', '.join(choices)}"] if choices else []


def _lookup(client: Client, options: argparse.Namespace) -> None:
    _one(client.lookup(options.iid), as_json=options.json)


def _resolve(client: Client, options: argparse.Namespace) -> None:
    _one(client.resolve(**dict(options.pairs)), as_json=options.json)


def _search(client: Client, options: argparse.Namespace) -> None:
    found = client.search(options.q, limit=min(options.limit, _PAGE_MAX), **_values(options.pairs))
    hits = list(itertools.islice(found, options.limit))
    _table(hits, ("iid", "name", "brand"), as_json=options.json)


def _values(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the value of each name, a list where it has several."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in given.items()}


def _report(client: Client, options: argparse.Namespace) -> None:
    call = getattr(client.report, options.name.replace("-", "_"))(**_values(options.pairs))
    report = call.wait(progress=_progress)
    if options.json:
        print(json.dumps({"data": report.rows, "meta": report.meta}, indent=1, ensure_ascii=False))
        return
    if not report.rows:
        print(f"No rows match; the report cost {report.meta['cost_units']} units.", file=sys.stderr)
        return
    names = [name for name, value in report.rows[0].items() if not isinstance(value, dict | list)]
    _table(report.rows, tuple(names), as_json=False)


def _export(client: Client, options: argparse.Namespace) -> None:
    given = _values(options.pairs)
    filters = {name: [value] if isinstance(value, str) and name in _SEVERAL else value for name, value in given.items()}
    given_too = {"filter": filters or None, "since": options.since, "until": options.until}
    order: Any = {"dataset": options.dataset, "format": options.format}
    order |= {name: value for name, value in given_too.items() if value is not None}
    if options.to is not None:  # before the order, which costs units
        check_export_folder(options.to)
    done = client.export(**order, progress=_progress)
    manifest = done["manifest"]
    if manifest is not None and options.to is not None:
        for path in download_export(client._http, manifest, client._calls.credentials, options.to):
            print(path, file=sys.stderr if options.json else sys.stdout)
    elif manifest is not None and not options.json:
        print(*(file["signed_url"] for file in manifest["files"]), sep="\n")
    if options.json:
        print(json.dumps(done, indent=1, ensure_ascii=False))


def _match(client: Client, options: argparse.Namespace) -> None:
    columns = {name: column for name in _MATCHED_COLUMNS if (column := getattr(options, name)) is not None}
    if not {"name", "gtin"} & columns.keys():
        raise UnusableTable("name the column of the names by --name, or that of GTINs by --gtin")
    if options.to.absolute() == options.file.absolute():
        raise UnusableTable(f"{options.to} is the table itself; name another file by --to")
    rows, matches = match_table(client, options.file, options.to, columns, _progress)
    if options.json:
        print(json.dumps({"file": str(options.to), "rows": rows, "matches": matches}))
    else:
        print(f"{matches:,} of {rows:,} rows are matched in {options.to}")


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


def _verify(options: argparse.Namespace) -> None:
    if options.keys is None:
        with Client(options.url, key=options.key) as client:
            keys = client.release_keys()
    else:
        keys = read_keys(options.keys)
    manifest = verify(options.folder, keys)
    if options.json:
        print(json.dumps({name: manifest[name] for name in ("dataset", "data_version", "rows", "bytes")}))
    else:
        count, name = len(manifest["files"]), f"{_safe(manifest['dataset'])} {manifest['data_version']}"
        print(f"{name}: signature and {count} {'file' if count == 1 else 'files'} are as published")


def _one(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(record, indent=1, ensure_ascii=False))
        return
    for name, value in record.items():
        if not isinstance(value, dict | list):
            print(f"{name:16} {_safe(value)}")


def _table(rows: Iterable[Mapping[str, Any]], names: tuple[str, ...], *, as_json: bool) -> None:
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
