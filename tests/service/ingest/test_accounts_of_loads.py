"""Every row that is read is new, the same, replaced or rejected, and what is accepted comes out digit for digit."""

import json
import re
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from shared.errors import LoadRefused
from shared.index.iid import mint
from shared.settings.settings import Settings
from tests.service.ingest.conftest import Command
from tests.service.ingest.test_values import put
from tests.support.database import execute
from tests.support.shop import ROWS, load_rows
from workers.ingest.load.accounting import accounts, check

MAPPING_ACCOUNT = """
source = "{source}"
title = "T"
license = "CC0-1.0"
[item]
id = "id"
name = {{ constant = "Thing" }}
[observation]
day = "day"
channel = "shop"
price = "price"
currency = "cur"
[[impacts]]
indicator = "water_l"
value = "water"
basis = "measured"
method = "m"
"""

DIGITS = st.text("0123456789", min_size=1, max_size=40)

FIGURE = st.one_of(
    st.just(""),
    DIGITS,
    st.tuples(DIGITS, DIGITS).map(".".join),
    st.sampled_from(["-1", "1,5", "x", "1e3", "٣", "1e-300", " 7 ", "1.2.3"]),
)

PRICE = st.one_of(
    st.just(""), st.sampled_from(["1", "2.50", "2.505", "free", "-3", "0", "999999999999.99", "1000000000000"])
)

ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "b", "c", ""]),
        "day": st.sampled_from(["2026-01-01", "2026-01-02", "2026-02-30", "", "2098-01-01"]),
        "shop": st.sampled_from(["N", "S", ""]),
        "price": PRICE,
        "cur": st.sampled_from(["USD", "EUR", "usd", ""]),
        "water": FIGURE,
    }
)

NUMBER = 0


@hypothesis_settings(
    max_examples=10,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(loads=st.lists(st.lists(ROW, min_size=1, max_size=12), min_size=1, max_size=2))
def test_each_row_is_in_one_place_and_each_figure_comes_out_as_it_went_in(
    settings: Settings, loads: list[list[dict[str, str]]]
) -> None:
    global NUMBER
    NUMBER += 1
    source = f"s{NUMBER}"
    with tempfile.TemporaryDirectory() as folder:
        for n, rows in enumerate(loads):
            content = "\n".join(map(json.dumps, rows))
            try:
                summary = put(settings, Path(folder), MAPPING_ACCOUNT.format(source=source), content, f"{n}.ndjson")
            except LoadRefused:
                [(refused,)] = execute(settings, "SELECT rows_rejected FROM loads ORDER BY started_at DESC LIMIT 1")
                assert refused == len(rows)
                continue
            if summary.state == "unchanged" and not summary.counts["rows"]:
                continue  # the same file as before
            check(summary.counts)
            for account in accounts(summary.counts):
                assert account.accounted == account.read
            [(kept,)] = execute(
                settings, "SELECT count(*) FROM rejects WHERE load_id::text = $1 AND scope = 'row'", summary.load_id
            )
            assert kept == summary.counts["rejected"]
            assert summary.counts["rows"] == len(rows)
            lines = execute(settings, "SELECT line FROM rejects WHERE load_id::text = $1", summary.load_id)
            used = [row for line, row in enumerate(rows, 1) if (line,) not in lines]
            assert len(used) == summary.counts["rows_used"]
            if n:
                continue  # what a later load says of an item counts by its day, which is another rule
            newest: dict[str, str] = {}
            for row in sorted(used, key=lambda row: row["day"] if row["price"] else ""):
                newest[row["id"]] = row["water"].strip()
            for name, figure in newest.items():
                found = execute(settings, "SELECT per_unit FROM impacts WHERE item_id = $1", mint(source, name).key)
                if figure:
                    assert [str(value[0].as_tuple()) for value in found] == [
                        str(Decimal(f"{Decimal(figure):f}").as_tuple())
                    ], figure


def test_an_account_that_does_not_add_up_fails_the_load() -> None:
    good = {"rows": 5, "rows_used": 3, "rejected": 2, "items_read": 1, "items_new": 1}
    check(good)
    for name, count in (("rows_used", 2), ("items_new", 0), ("items_same", 1)):
        with pytest.raises(LoadRefused, match="does not add up"):
            check({**good, name: count})
    with pytest.raises(LoadRefused, match="does not add up"):
        check({**good, "impacts_read": 1, "impacts_new": 2, "impacts_superseded": -1})


def test_a_summary_says_what_became_of_every_row(settings: Settings, tmp_path: Path) -> None:
    text = MAPPING_ACCOUNT.format(source="shop").replace('"water"', '{ column = "water", on_error = "field" }')
    header = "id,day,shop,price,cur,water\n"
    first = "a,2026-01-01,N,1,USD,5\nb,2026-01-01,N,2,USD,\n"
    put(settings, tmp_path, text, header + first)
    second = (
        "a,2026-01-01,N,1,USD,5\na,2026-01-02,N,3,USD,6\na,2026-01-02,N,4,USD,7\nb,2026-01-01,N,9,USD,x\nc,,,,,1\n"
        "c,soon,N,1,USD,1\n"
    )
    counts = Counter(put(settings, tmp_path, text, header + second, "b.csv").counts)
    by_kind = {account.kind: account for account in accounts(counts)}
    rows, items, observations, impacts = (by_kind[kind] for kind in ("rows", "items", "observations", "impacts"))
    assert (rows.read, rows.new, rows.rejected) == (6, 5, 1)
    assert (items.new, items.replaced, items.same) == (1, 1, 1)
    assert (
        observations.new,
        observations.replaced,
        observations.same,
        observations.superseded,
        observations.absent,
    ) == (1, 1, 1, 1, 1)
    assert (impacts.new, impacts.replaced, impacts.superseded, impacts.rejected) == (1, 1, 2, 1)
    assert counts["fields_rejected"] == 1


def test_rejects_are_those_of_the_last_load_also_when_it_has_none(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    assert "no load yet" in str(command("loads", "rejects").exception)
    first = load_rows(settings, tmp_path, ROWS + "9,[/x],B,G,K,1,soon,N,1,\n")
    shown = command("loads", "rejects")
    assert shown.exit_code == 0, shown.exception
    assert "soon" in shown.output
    [reject] = json.loads(command("loads", "rejects", "--json").output)["rejects"]
    assert (reject["file"], reject["line"], reject["column"], reject["value"]) == ("shop.csv", 7, "day", "soon")
    last = load_rows(settings, tmp_path, name="clean.csv")
    document = json.loads(command("loads", "rejects", "--json").output)
    assert (document["load"], document["rejected"], document["rejects"]) == (last.load_id, 0, [])
    moments = [value for value in document.values() if isinstance(value, str) and value.startswith("20")]
    assert moments and all(re.fullmatch(r"[0-9-]{10}T[0-9:.]+Z", moment) for moment in moments)
    assert "0 rejects" in command("loads", "rejects").output
    for named in (first.load_id, "1"):  # both are shown by `loads list`
        assert json.loads(command("loads", "rejects", named, "--json").output)["rejected"] == 1
    assert "no such load" in str(command("loads", "rejects", "nothing").exception)


def test_a_load_prints_its_account_and_one_document_for_programs(
    settings: Settings, tmp_path: Path, command: Command
) -> None:
    load_rows(settings, tmp_path)
    (tmp_path / "b.csv").write_text(
        (tmp_path / "shop.csv").read_text().replace("10.90", "10.50") + "9,X,B,G,K,1,soon,N,1,\n"
    )
    result = command("ingest", "--mapping", str(tmp_path / "shop.toml"), "--json", str(tmp_path / "b.csv"))
    assert result.exit_code == 0, result.exception
    [document] = json.loads(result.output)
    assert document["counts"]["observations_replaced"] == 1
    assert document["rejects"] == {"has no day of the form %Y-%m-%d": 1}
