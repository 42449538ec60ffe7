"""Files of exchange rates as the European Central Bank writes them, and what is refused of others."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from shared.errors import LoadRefused
from workers.ingest.rates.rate_file import read_rate_file

HISTORY = "Date,USD,JPY,CYP,\n2026-07-03,1.1520,170.25,N/A,\n2026-07-02,1.1497,169.9,0.5842,\n"

DAILY = "Date, USD, JPY, \n3 July 2026, 1.1520, 170.25, \n"

XML = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<Cube><Cube time='2026-07-03'><Cube currency='USD' rate='1.1520'/><Cube currency='JPY' rate='170.25'/></Cube>
<Cube time='2026-07-02'><Cube currency='USD' rate='1.1497'/></Cube></Cube>
</gesmes:Envelope>
"""

THIRD, SECOND = date(2026, 7, 3), date(2026, 7, 2)


def written(folder: Path, content: str, name: str = "rates.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def test_the_history_has_a_column_for_each_currency_and_not_available_is_no_fault(tmp_path: Path) -> None:
    found = read_rate_file(written(tmp_path, HISTORY))
    assert not found.rejects
    assert found.rates == {
        ("USD", THIRD): Decimal("1.1520"),
        ("JPY", THIRD): Decimal("170.25"),
        ("USD", SECOND): Decimal("1.1497"),
        ("JPY", SECOND): Decimal("169.9"),
        ("CYP", SECOND): Decimal("0.5842"),
    }


def test_the_daily_file_writes_its_day_in_words(tmp_path: Path) -> None:
    found = read_rate_file(written(tmp_path, "\ufeff" + DAILY))
    assert found.rates == {("USD", THIRD): Decimal("1.1520"), ("JPY", THIRD): Decimal("170.25")}


def test_xml_has_the_rates_of_one_day_or_many(tmp_path: Path) -> None:
    found = read_rate_file(written(tmp_path, XML, "eurofxref-hist-90d.xml"))
    assert found.rates[("USD", SECOND)] == Decimal("1.1497")
    assert len(found.rates) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2026-07-01,-1,1,1,", "is not a rate"),
        ("2026-07-01,0,1,1,", "is not a rate"),
        ("2026-07-01,1e3,1,1,", "is not a rate"),
        ("2026-07-01,NaN,1,1,", "is not a rate"),
        ("2026-07-03,1.1521,170.25,,", "another rate of the same day"),
        ("01/07/2026,1.1,1,1,", "is no day"),
    ],
)
def test_a_text_that_is_no_rate_is_rejected_with_its_line_and_reason(tmp_path: Path, line: str, reason: str) -> None:
    found = read_rate_file(written(tmp_path, HISTORY + line + "\n"))
    assert (found.rejects[0].line, found.rejects[0].column) == (4, "USD")
    assert reason in found.rejects[0].reason
    assert found.rates[("USD", THIRD)] == Decimal("1.1520")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "day,USD\n2026-07-01,1\n",
        "Date,USD,\n",
        "<html><body>not found</body></html>",
        "<Cube><Cube",
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Cube>&b;</Cube>',
        'Date,USD\n2026-07-01,"1',
    ],
)
def test_a_file_in_another_form_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(LoadRefused):
        read_rate_file(written(tmp_path, content))
