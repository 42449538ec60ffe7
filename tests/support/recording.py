"""Answers as text that can be compared: exact, but for what differs between two runs, which gets a stable name.

A name of one kind is numbered by its first appearance in a subject, so that the same value has the same name: an id that
an answer gives and a later question uses is seen to be one. Everything else is written as it was sent.
"""

import base64
import contextlib
import difflib
import gzip
import hashlib
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pyarrow.parquet as pq
from pyarrow import ipc

from edge.http.catalogue import reason_phrase

# The longest spans between today and a date that an answer derives from it: the days of a report of use, those
# for which a release is kept. All dates of the recorded content are years away from any run.
_DAYS_BEFORE, _DAYS_AFTER = 31, 100
# Revisions of a protocol, and examples in sentences: dates that are the same on every day.
_DATES_OF_NO_RUN = ("2025-11-25", "2026-07-28", "2026-11-21T08:00:00Z")
# Of an answer that differs so many lines are shown.
_LINES_SHOWN = 12
# Values that are made at random or from such, in the order in which they are looked for: the first that fits counts.
_RANDOM = (
    ("key", r"iixk_live_[0-9A-Za-z]{48}"),
    ("token", r"iixp_free_[0-9A-Za-z]{48}"),
    ("webhook secret", r"whsec_[0-9A-Za-z+/=]+"),
    ("webhook signature", r"(?<=v1,)[0-9A-Za-z+/]{43}="),
    ("cursor", r"(?:(?<=cursor=)|(?<=cursor\": \"))[0-9A-Za-z_-]{24,}"),
    ("digest of a record", r"(?<=\d-)[0-9a-f]{12}(?=\")"),
    ("uuid", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    ("id token", r"\beyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+"),
    ("csrf", r"(?<=name=\"csrf\" value=\")[^\"]+"),
    ("once", r"(?<=name=\"once\" value=\")[^\"]+"),
    ("invitation", r"(?<=/dashboard/invitation#)[0-9A-Za-z_-]+"),
    ("cookie of a sign-in", r"itemindex-sign-in-[0-9A-Za-z_-]{16}(?:=[0-9A-Za-z_-]{16,})?"),
    ("cookie", r"(?<=Set-Cookie: itemindex=)[0-9A-Za-z_-]{16,}"),
    ("cookie of a sign-out", r"(?<=Set-Cookie: itemindex-sign-out=)[0-9A-Za-z_-]{16,}"),
    ("state", r"(?<=[?&]state=)[0-9A-Za-z_-]{16,}"),
    ("nonce", r"(?<=[?&]nonce=)[0-9A-Za-z_-]{16,}"),
    ("challenge", r"(?<=code_challenge=)[0-9A-Za-z_-]{16,}"),
)
# They count the events of all subjects.
_EVENT = re.compile(r"(?:(?<=cursor\": \")|(?<=cursor</dt><dd>)|(?<=</a></td><td class=\"number\">))\d+(?=[\"<])")
_MOMENT = re.compile(r"\b(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z| UTC|\+00:00)?)?(?![\d-])")
_VARYING: tuple[tuple[str, str], ...] = (
    (r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} 20(?:2[5-9]|[3-9]\d) \d\d:\d\d:\d\d GMT", "{http date}"),
    (r"(?<=expires=)\d{10}\b", "{unix time}"),
    # It is of the second in which it expires: two of one file are the same where no second began between them.
    (r"(?<=signature=)[0-9A-Za-z_-]{20,}", "{signature}"),
    (r"(?<=\"expirationTimestamp\":)( ?)\d{13}\b", r"\1{unix time}"),
    (r"(?m)^id: \d+$", "id: {number of changes}"),  # of a job: how often it reports its progress depends on its time
    (r"(?<=\"timestamp\":)\d{13}\b", "{unix time}"),
    (r"(?<=webhook-timestamp: )\d+", "{unix time}"),
    (r"(?<=\"milliseconds\": )\d+", "{milliseconds}"),
    (r"(?<=\"retry_after\":)( ?)\d+", r"\1{seconds}"),
    (r"(?<=;t=)\d+", "{seconds}"),
    (r"(?<=Retry-After: )\d+", "{seconds}"),
    # What a limit per second has left depends on how long ago the last call was.
    (r"(-burst\";r=)\d+", r"\1{left}"),
)
_PROBLEM = re.compile(
    r"^(?P<status>[3-5]\d\d) .*\n(?:.+\n)*\n(?P<body>\{\n \"type\": \"http://testserver/v1/errors/(?:.*\n)*?\}\n)",
    re.MULTILINE,
)
# What a reader sees in an example in the place of a name.
_READABLE = (
    (r"\{key \d+\}", "$ITEMINDEX_KEY"),
    (r"\{id token \d+\}", "$ID_TOKEN"),
    (r"\{this request\}|\{uuid \d+\}", "019abcde-0000-7000-8000-000000000000"),
    (r"\{unix time\}", "1790000000"),
    # A daily limit resets hours later, everything else is worth another try soon.
    (r"\{seconds\}(?=[^{}]*\"resets_at\")", "28800"),
    (r"\{seconds\}", "2"),
    (r"\{today[-+\d]*\}", "2026-07-24"),
    (r"\{signature\}", "…"),
)
_ANY_RANDOM = re.compile("|".join(f"(?P<_{number}>{pattern})" for number, (_, pattern) in enumerate(_RANDOM)))


class Recording:
    """The answers of one run, by subject."""

    def __init__(self, fixed: Mapping[str, str] | None = None) -> None:
        """Begin; `fixed` names values of this run alone, such as the address of another service."""
        self.subjects: dict[str, list[str]] = {}
        self._fixed = dict(fixed or {})
        self._current: list[str] = []
        self._names: dict[str, str] = {}
        self._events: dict[str, str] = {}
        self._request = ""
        self._today = datetime.now(UTC).date()

    def begin(self, subject: str) -> None:
        """Let the answers that follow be of this subject."""
        self._current = self.subjects.setdefault(subject, [])
        self._names, self._events = {}, {}
        self._numbers: dict[str, int] = defaultdict(int)

    def note(self, value: str, kind: str) -> None:
        """Have a value that no pattern finds replaced by a name of this kind."""
        if value not in self._names:
            self._numbers[kind] += 1
            self._names[value] = f"{{{kind} {self._numbers[kind]}}}"

    def add(
        self,
        title: str,
        request: Sequence[str],
        status: int,
        head: Iterable[tuple[str, str]],
        body: bytes,
        *,
        dated: bool = True,
        shown: Callable[[str], str] = str,
    ) -> None:
        """Write one answer down: the request's lines, the answer's headers sorted by name, and the body as text.

        A page that is not `dated` has no date of its run; `shown` shortens a body that another test holds.
        """
        fields = sorted(head, key=lambda field: (field[0].lower(), field[1]))
        named = {name.lower(): value for name, value in fields}
        self._request = named.get("x-request-id", "")
        length = named.get("content-length")
        exact = length is not None and int(length) == len(body)
        lines = [
            f"{name}: {'{length of the body}' if exact and name.lower() == 'content-length' else value}"
            for name, value in fields
            if name.lower() != "date"
        ]
        text = "\n".join([f"{status} {reason_phrase(status)}", *lines])
        media_type = "" if status == HTTPStatus.PARTIAL_CONTENT else named.get("content-type", "")
        shape = shown(text_of(body, media_type, named.get("content-encoding", "")))
        written = "\n".join([*request, "", text, *(["", shape.rstrip("\n")] if shape else [])])
        self._current.append(f"#### {title}\n{self._named(written, dated=dated)}\n")

    def texts(self) -> dict[str, str]:
        """Return the text of each subject."""
        return {subject: "\n".join(answers) for subject, answers in self.subjects.items()}

    def _named(self, text: str, *, dated: bool) -> str:
        for value, name in self._fixed.items():
            text = text.replace(value, name)
        if self._request:
            text = text.replace(self._request, "{this request}")
            with contextlib.suppress(ValueError):
                text = text.replace(str(UUID(self._request)), "{this request}")
        for pattern, name in _VARYING:
            text = re.sub(pattern, name, text)
        text = _EVENT.sub(self._event, text)
        text = _ANY_RANDOM.sub(self._numbered, text)
        for value, name in sorted(self._names.items(), key=lambda item: -len(item[0])):
            text = text.replace(value, name)
        return _MOMENT.sub(self._moment, text) if dated else text

    def _event(self, match: re.Match[str]) -> str:
        return self._events.setdefault(match[0], f"{{event {len(self._events) + 1}}}")

    def _numbered(self, match: re.Match[str]) -> str:
        value, kind = match[0], _RANDOM[int((match.lastgroup or "_0")[1:])][0]
        if kind == "cursor" and not _names_a_row_by_uuid(value):
            return value
        self.note(value, kind)
        if kind in ("key", "token"):  # the ten characters after the prefix are its id, which answers name
            self._names.setdefault(value[10:20], f"{{id of {self._names[value][1:]}")
        return self._names[value]

    def _moment(self, match: re.Match[str]) -> str:
        if match[0] in _DATES_OF_NO_RUN:
            return match[0]
        try:
            apart = (date.fromisoformat(match[1]) - self._today).days
        except ValueError:
            return match[0]
        if not -_DAYS_BEFORE <= apart <= _DAYS_AFTER:
            return match[0]
        day = "{today}" if apart == 0 else f"{{today{apart:+}}}"
        if match[3] is None:
            return day
        midnight = not match[3].replace(":", "").strip("0.")
        return f"{day}{match[2]}{match[3]}{match[4] or ''}" if midnight else "{time}"


def _names_a_row_by_uuid(cursor: str) -> bool:
    """Return whether a cursor stands at a row whose id is made at random; another is the same in each run."""
    packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    return re.search(rb"[0-9a-f]{8}-[0-9a-f]{4}-", packed) is not None


def text_of(body: bytes, media_type: str, coding: str = "") -> str:
    """Return a body as lines from which its bytes follow; of a table in a binary form the columns and rows."""
    if coding == "gzip":
        return f"({coding})\n{text_of(gzip.decompress(body), media_type)}"
    kind = media_type.partition(";")[0]
    if not body or not kind:  # a part of a body has no form of its own
        return _plain(body)
    if kind == "text/html":  # for eyes, which see more than a record: tests/browser
        return "(a page)"
    if kind.endswith(("json", "linkset")) and "x-ndjson" not in kind:
        decoded = msgspec.json.decode(body)
        compact = msgspec.json.encode(decoded) == body
        return ("" if compact else "(not in its shortest form)\n") + msgspec.json.format(body, indent=1).decode()
    if kind in ("application/vnd.apache.parquet", "application/vnd.apache.arrow.file"):
        table = pq.read_table(io.BytesIO(body)) if kind.endswith("parquet") else ipc.open_file(body).read_all()
        rows = [msgspec.json.encode(row, enc_hook=str).decode() for row in table.to_pylist()]
        return "\n".join([f"({kind})", *(f"{field.name}: {field.type}" for field in table.schema), *rows])
    if body[:2] == b"\x1f\x8b":
        return f"(gzip)\n{text_of(gzip.decompress(body), media_type)}"
    return _plain(body)


def _plain(body: bytes) -> str:
    try:
        return body.decode().replace("\r\n", "\\r\\n\n")
    except UnicodeDecodeError:
        return f"({len(body)} bytes, sha256 {hashlib.sha256(body).hexdigest()})"


def compare(texts: Mapping[str, str], folder: Path) -> list[str]:
    """Return how answers differ from the record: of each the file, the title, and the lines without and with `+`."""
    kept = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    found = []
    for subject in sorted(kept.keys() | texts.keys()):
        before, after = _by_title(kept.get(subject, "")), _by_title(texts.get(subject, ""))
        for title in before | after:
            old, new = before.get(title, []), after.get(title, [])
            if old != new:
                lines = [
                    line for line in difflib.unified_diff(old, new, n=0, lineterm="") if line[:2] not in ("--", "@@")
                ]
                found.append("\n".join([f"{subject}.txt, {title}", *lines[1 : 1 + _LINES_SHOWN]]))
    return found


def _by_title(text: str) -> dict[str, list[str]]:
    """Return the lines of each answer; the second of one title has a number behind it."""
    answers: dict[str, list[str]] = {}
    for block in re.split(r"^#### ", text, flags=re.MULTILINE)[1:]:
        title, *lines = block.split("\n")
        number = 1
        while (name := title if number == 1 else f"{title} ({number})") in answers:
            number += 1
        answers[name] = lines
    return answers


def problem_examples(texts: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return for each problem type the shortest request that was answered with it, and the members of the answer."""
    found: dict[str, dict[str, Any]] = {}
    for subject in sorted(texts):
        for block in re.split(r"^#### .*\n", texts[subject], flags=re.MULTILINE)[1:]:
            answered = _PROBLEM.search(block)
            if answered is None:
                continue
            request, text = block[: answered.start()].strip(), answered["body"]
            for pattern, value in _READABLE:
                request, text = re.sub(pattern, value, request), re.sub(pattern, value, text)
            body = msgspec.json.decode(text)
            slug, status = body.pop("type").rpartition("/")[2], body.pop("status")
            if int(answered["status"]) == status and len(request) < len(
                found.get(slug, {}).get("request", request + " ")
            ):
                found[slug] = {"request": request, "answer": {name: body[name] for name in body if name != "title"}}
    return dict(sorted(found.items()))


def rewrite(texts: Mapping[str, str], folder: Path) -> None:
    """Let these texts be the record."""
    for path in folder.glob("*.txt"):
        path.unlink()
    for subject, text in texts.items():
        (folder / f"{subject}.txt").write_text(text, encoding="utf-8")
