"""DuckDB as the judge of small tables."""

import duckdb


def single_threaded() -> duckdb.DuckDBPyConnection:
    """Open an empty database: over some thousand rows a second thread would mostly wait, at full speed."""
    return duckdb.connect(config={"threads": 1})
