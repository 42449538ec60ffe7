"""Loads of exchange rates: numbered events that are kept exactly and can be undone."""

import hashlib
import os
import threading
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from shared.db.connect import connect
from shared.errors import LoadRefused
from shared.settings.settings import Settings
from tests.support.database import execute
from tests.support.rates import HISTORY, load_rates
from tests.support.servers import begins_with
from tests.support.shop import load_rows, undone
from workers.ingest.rates.load_rates import RateTerms, load

DAY = date(2026, 7, 3)


def rate(settings: Settings, currency: str = "USD", day: date = DAY) -> Decimal | None:
    query = "SELECT per_euro FROM rates_in_force WHERE rates = 'ecb' AND currency = $1 AND day = $2"
    with connect(settings.worker_database_url, application="tests") as connection:
        row = connection.execute(query, (currency, day)).fetchone()
    return row[0] if row else None


def test_rates_are_kept_with_all_their_digits_and_make_a_data_version(settings: Settings, tmp_path: Path) -> None:
    loaded = load_rates(settings, tmp_path, HISTORY.replace("1.1520", "1.152000000001"))
    assert (loaded.state, loaded.rates, loaded.changed, loaded.data_version) == ("committed", 24, 24, 1)
    assert rate(settings) == Decimal("1.152000000001")
    assert rate(settings, "CYP") is None


@pytest.mark.timeout(60)
def test_rates_from_a_pipe_are_loaded_with_the_digest_of_what_was_read(settings: Settings, tmp_path: Path) -> None:
    pipe = tmp_path / "rates.pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(HISTORY,), daemon=True)
    writer.start()
    assert load(settings, RateTerms("ecb"), pipe).state == "committed"
    files = execute(settings, "SELECT bytes, sha256 FROM load_files")
    assert [(size, bytes(digest)) for size, digest in files] == [
        (len(HISTORY), hashlib.sha256(HISTORY.encode()).digest())
    ]


def test_a_rate_with_a_nul_is_kept_among_the_rejects(settings: Settings, tmp_path: Path) -> None:
    loaded = load_rates(settings, tmp_path, HISTORY + "2026-07-07,1.3\0,1,1,N/A,\n")
    assert (loaded.state, loaded.rejected) == ("committed", 1)
    assert execute(settings, "SELECT value FROM rejects") == [("1.3\ufffd",)]


def test_the_same_rates_again_change_nothing(settings: Settings, tmp_path: Path) -> None:
    load_rates(settings, tmp_path)
    again = load_rates(settings, tmp_path)
    assert (again.state, again.changed, again.data_version) == ("unchanged", 0, None)


def test_the_same_rates_under_other_terms_change_what_answers_cite(settings: Settings, tmp_path: Path) -> None:
    load_rates(settings, tmp_path)
    renamed = load(settings, RateTerms("ecb", title="Rates of our bank"), tmp_path / "eurofxref-hist.csv")
    assert (renamed.state, renamed.changed, renamed.data_version) == ("committed", 0, 2)
    assert execute(settings, "SELECT title FROM sources WHERE name = 'ecb'") == [("Rates of our bank",)]
    assert rate(settings) == Decimal("1.1520")
    undone(settings, renamed.load_id)
    assert rate(settings) == Decimal("1.1520")


def test_rates_in_lines_that_end_in_a_carriage_return_are_read(settings: Settings, tmp_path: Path) -> None:
    assert load_rates(settings, tmp_path, HISTORY.replace("\n", "\r")).rates == 24


def test_the_newest_load_decides_and_undoing_it_gives_back_the_rate_before(settings: Settings, tmp_path: Path) -> None:
    load_rates(settings, tmp_path)
    corrected = load_rates(settings, tmp_path, "Date,USD,\n2026-07-03,1.2,\n2026-07-07,1.3,\n")
    assert (rate(settings), rate(settings, day=date(2026, 7, 7))) == (Decimal("1.2"), Decimal("1.3"))
    assert undone(settings, corrected.load_id) == 3
    assert (rate(settings), rate(settings, day=date(2026, 7, 7))) == (Decimal("1.1520"), None)


def test_undoing_an_earlier_load_leaves_the_claims_of_a_later_one(settings: Settings, tmp_path: Path) -> None:
    first = load_rates(settings, tmp_path)
    load_rates(settings, tmp_path, HISTORY + "2026-07-07,1.3,1,1,N/A,\n")
    undone(settings, first.load_id)
    assert rate(settings) == Decimal("1.1520")


def test_a_row_that_cannot_be_used_is_kept_with_its_reason(settings: Settings, tmp_path: Path) -> None:
    loaded = load_rates(settings, tmp_path, HISTORY.replace("CYP", "QQQ").replace("N/A", "2"))
    assert loaded.rejected == 8
    found = execute(settings, "SELECT DISTINCT reason, column_name, value FROM rejects")
    assert found == [("is no currency (ISO 4217)", "QQQ", "2")]


@begins_with(load_rows)
def test_a_source_of_items_keeps_its_name_and_terms(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(LoadRefused, match="source of items"):
        load_rates(settings, tmp_path, name="shop")
    with connect(settings.database_url, application="tests") as connection:
        assert connection.execute("SELECT title FROM sources").fetchall() == [("A shop for tests",)]
        states = connection.execute("SELECT source, state FROM loads ORDER BY started_at").fetchall()
    assert states == [("shop", "committed"), ("shop", "failed")]
