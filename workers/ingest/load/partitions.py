"""Months that had no rows before: new partitions, written by COPY, indexed in bulk and attached at the end."""

from datetime import date

import psycopg
from psycopg import sql

from shared.calendar_periods import month_after
from shared.db.connect import Connection
from shared.db.queries import load_queries
from workers.ingest.load.months import Chunk

SQL = load_queries(__file__, "partitions.sql")


class Partitions:
    """Months that had no rows before this load. All of it is in the load's transaction, and is rolled back with it.

    `rows` are those written, `superseded` those that a later row of the same load replaced.
    """

    def __init__(self, connection: Connection, constants: dict[str, object], *, events: bool) -> None:
        self._connection = connection
        self._constants = constants
        self._events = events
        self._existing = {str(row[0]) for row in connection.execute(SQL.months)}
        self._indexed: set[str] = set()
        self._in_order = True
        self.new: dict[str, tuple[date, date]] = {}
        self.rows = 0
        self.superseded = 0

    def table_for(self, chunk: Chunk) -> str | None:
        """Return the new table that a chunk belongs into; None where its month has rows of former loads."""
        table = f"observations_{chunk.month:%Y_%m}"
        if table in self._existing:
            return None
        if table not in self.new:
            self._create(table, chunk.month)
        elif table in self._indexed:
            self._reopen(table)
        self.rows += len(chunk.rows) + chunk.superseded
        self.superseded += chunk.superseded
        return table

    def index(self, table: str) -> None:
        """Index a month that the file has passed: the server would wait for the next batch meanwhile."""
        if self._in_order:
            self._index(table)

    def attach(self) -> None:
        """Index the tables without an index, and make all new months parts of `observations`."""
        for table, span in self.new.items():
            if table not in self._indexed:
                self._index(table)
            set_defaults(self._connection, table, dict.fromkeys(self._constants) | {"units": 1, "load_no": 0})
            attach = sql.SQL(
                "ALTER TABLE observations ATTACH PARTITION {0} FOR VALUES FROM ({1}) TO ({2}); "
                "ALTER TABLE {0} DROP CONSTRAINT days"
            )
            self._connection.execute(attach.format(sql.Identifier(table), *_days(span)))

    def _create(self, table: str, month: date) -> None:
        # COPY checks the days while the server has time; it need not read the month again to attach it.
        create = sql.SQL(
            "CREATE TABLE {} (LIKE observations INCLUDING DEFAULTS INCLUDING CONSTRAINTS, "
            "CONSTRAINT days CHECK (day >= {} AND day < {}))"
        )
        self.new[table] = (month, month_after(month))
        self._connection.execute(create.format(sql.Identifier(table), *_days(self.new[table])))
        set_defaults(self._connection, table, self._constants)

    def _reopen(self, table: str) -> None:
        # Rows of a month that seemed complete: the file is in no order, so no month is taken for complete any more.
        self._in_order = False
        self._indexed.remove(table)
        self._connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(_index_of(table))))

    def _index(self, table: str) -> None:
        """Build the unique index at once, in bulk: many times cheaper than keeping it up row by row.

        If it finds equal rows, equal events get further numbers, or of a state stated twice the last row is kept; then
        it is built again.
        """
        try:
            with self._connection.transaction():
                self._build(table)
        except psycopg.errors.UniqueViolation:
            mend = SQL.number_equal if self._events else SQL.drop_superseded
            mended = self._connection.execute(mend.replace("{table}", table))
            self.superseded += 0 if self._events else mended.rowcount
            self._build(table)
        self._indexed.add(table)
        # A tenth of the usual sample is enough to see that few rows have one item, and takes a tenth of the time.
        analyze = sql.SQL(
            "SET LOCAL default_statistics_target = 10; ANALYZE {} (item_id, day); "
            "SET LOCAL default_statistics_target TO DEFAULT"
        )
        self._connection.execute(analyze.format(sql.Identifier(table)))

    def _build(self, table: str) -> None:
        if self._in_order:  # of sorted rows helpers are no sooner done, and the loader needs their core
            self._connection.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        build = sql.SQL("SET LOCAL maintenance_work_mem = '256MB'; CREATE UNIQUE INDEX {} ON {} (item_id, day, mark)")
        self._connection.execute(build.format(sql.Identifier(_index_of(table)), sql.Identifier(table)))


def set_defaults(connection: Connection, table: str, constants: dict[str, object]) -> None:
    """Let a table fill in what is the same in all rows of a load: a quarter of what COPY would have to read."""
    changes = [
        sql.SQL("ALTER {} DROP DEFAULT").format(sql.Identifier(name))
        if value is None
        else sql.SQL("ALTER {} SET DEFAULT {}").format(sql.Identifier(name), sql.Literal(value))
        for name, value in constants.items()
    ]
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(sql.Identifier(table), sql.SQL(", ").join(changes)))


def _days(span: tuple[date, date]) -> list[sql.Composable]:
    return [sql.SQL("DATE {}").format(sql.Literal(day.isoformat())) for day in span]


def _index_of(table: str) -> str:
    return f"{table}_identity"
