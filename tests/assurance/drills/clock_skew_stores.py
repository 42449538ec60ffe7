"""The clocks of PostgreSQL and of the state store step, without touching the host's and without changing the product.

PostgreSQL: a schema before pg_catalog has functions of the clock's names that add an offset. Only the keywords
CURRENT_TIMESTAMP and the like pass it by; the product's SQL uses none of them (`tests/laws/test_clocks.py`).
State store: the drill's edges load the charge script with an offset added to `TIME`. Nothing else reads that clock,
except the store itself for expiry, which `clock_skew.lua` moves by the same step.
"""

import time
from pathlib import Path

from shared.db.connect import connect
from shared.db.queries import load_queries
from shared.redis.connect import connect_store
from shared.settings.settings import Settings

SQL = load_queries(__file__, "clock_skew_stores.sql")
DAY_SECONDS = 86_400
_AHEAD = "drill:ahead"
_TIME = b"redis.call('TIME')[1]"
_STEPPED_TIME = f"({_TIME.decode()} + (redis.call('GET', '{_AHEAD}') or 0))".encode()
_STEP = Path(__file__).with_name("clock_skew.lua").read_text()
_DEADLINE_SECONDS = 5.0
_HALF_DAY_SECONDS = DAY_SECONDS // 2


def with_steps(script: bytes) -> bytes:
    """Return a script that sees the store's clock with the drill's offset. Raises ValueError if it reads none."""
    if _TIME not in script:
        raise ValueError("the script does not read the store's clock")
    return script.replace(_TIME, _STEPPED_TIME)


def seconds_to_noon() -> int:
    """Return how far ahead this UTC day's noon is, negative after it: from there a step of an hour stays in its day."""
    return _HALF_DAY_SECONDS - int(time.time()) % DAY_SECONDS


def step_state_store(settings: Settings, ahead_seconds: int) -> None:
    """Let the state store's clock be so far ahead of its host's, for scripts of `with_steps` and for expiry."""
    with connect_store(settings.state_url, deadline_seconds=_DEADLINE_SECONDS) as store:
        store.eval(_STEP, 1, _AHEAD, ahead_seconds)


def shadow_clock(settings: Settings) -> None:
    """Give the database a clock that can step; sessions that are opened from now on have it."""
    with connect(settings.database_url, application="drill") as connection:
        for query in SQL:
            if query.name != "step":
                connection.execute(query.sql)


def step_database(settings: Settings, ahead_seconds: int) -> None:
    """Let the clock of a database with `shadow_clock` be so far ahead of its host's, in every session."""
    with connect(settings.database_url, application="drill") as connection:
        connection.execute(SQL.step, (ahead_seconds,))
