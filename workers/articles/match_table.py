"""The job `match-table`: the rows of a caller's table, matched against the items of one snapshot."""

import hashlib
from collections.abc import Sequence

import msgspec
import psycopg

from shared.analytics.manifest import MEDIA_TYPES, ResultManifest, key_of, tail
from shared.articles.table_rows import RowCandidates, TableRow
from shared.db.connect import Connection
from shared.jobs.contract import MATCH_TABLE
from shared.processes import without_collector
from workers.articles import index, models
from workers.articles.records import SQL
from workers.articles.tables import match_rows
from workers.jobs.job import ClaimedJob
from workers.jobs.job_handler import JobContext, JobOutcome, StoredResultHandler

_FORMAT = "json"


class MatchTableHandler(StoredResultHandler):
    """Matches a table; the result is stored as a report's is, with an entry of `data` for each row."""

    def run(self, context: JobContext) -> JobOutcome:
        """Match the rows and write their candidates under the attempt."""
        job = context.job
        rows = msgspec.convert(job.parameters["rows"], list[TableRow])
        context.progress("matching", 0, len(rows))
        data_version, matched = _match(context, rows)
        return self.outcome_of(job, _write(context, job, data_version, matched))


@without_collector()
def _match(context: JobContext, rows: Sequence[TableRow]) -> tuple[int, list[RowCandidates]]:
    connection, directory = context.connection, context.services.settings.match_dir
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            records = index.open_and_keep(connection, directory, context.lease.check)
            return _version(connection), match_rows(connection, records, models.active(connection), rows)
    finally:
        if not connection.closed:
            connection.isolation_level = None


def _version(connection: Connection) -> int:
    row = connection.execute(SQL.stamp).fetchone()
    return int(row[0]) if row is not None else 0


def _write(context: JobContext, job: ClaimedJob, data_version: int, matched: Sequence[RowCandidates]) -> ResultManifest:
    key = key_of(job.id, job.attempt, MATCH_TABLE.name, _FORMAT)
    data = msgspec.json.encode(matched)
    meta = {"data_version": data_version, "rows": len(matched)}
    body = b'{"data":' + data + tail(meta)
    with context.services.objects.create(key) as file:
        file.write(body)
    return ResultManifest(
        key=key,
        format=_FORMAT,
        media_type=MEDIA_TYPES[_FORMAT],
        rows=len(matched),
        bytes=len(body),
        sha256=hashlib.sha256(body).hexdigest(),
        result_sha256=hashlib.sha256(data).hexdigest(),
        data_version=data_version,
        meta=msgspec.json.encode(meta).decode(),
    )
