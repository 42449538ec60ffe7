"""`ixc match`: a table is matched batch after batch, resumed where it stopped, and refused with the place of a fault."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from itemindex_client import tables
from itemindex_client.cli import main

from shared.printable import FORMULA_STARTS
from tests.unit.clients.answering import client, problem

HEADER = "sku,title,ean,brand\n"
ROWS = '1,"Soy milk, 1 l",4006381333931,Vita\n2,Oat drink,,\n3,,,\n4,=1+1,,Vita\n5,Tea,,\n'
DONE = "sku,title,ean,brand,iid,matched_name,score,match\n"
COLUMNS = ("--name", "title", "--brand", "brand", "--gtin", "ean")


class Service:
    """Answers batches of three rows at most, and notes their queries; the batch numbered `fails` is refused."""

    def __init__(self, fails: int = -1) -> None:
        self.asked: list[dict[str, Any]] = []
        self.fails = fails

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/":
            return httpx.Response(200, json={"batch_iids_max": 3, "plan": "brand"})
        assert (request.method, request.url.path) == ("POST", "/v1/reconcile")
        queries = json.loads(request.content)["queries"]
        if len(self.asked) == self.fails:
            return problem(403, "insufficient-plan")
        self.asked.append(queries)
        return httpx.Response(200, json={id: {"result": self._result(query)} for id, query in queries.items()})

    def _result(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        if query.get("query") == "Tea":
            return []
        best = {"id": "IID-1", "name": f"={query['query']}", "score": 99.5, "match": "Soy" in query["query"]}
        return [best]


@pytest.fixture
def match(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """Runs the command on `table.csv` and returns what it wrote."""

    def run(service: Service, *columns: str) -> str:
        monkeypatch.setattr("itemindex_client.cli.Client", lambda *_, **__: client(service))
        main(["match", str(tmp_path / "table.csv"), *(columns or COLUMNS), "--to", str(tmp_path / "matched.csv")])
        return (tmp_path / "matched.csv").read_text(encoding="utf-8")

    return run


def refused(match: Callable[..., str], *columns: str) -> str:
    with pytest.raises(SystemExit) as exit:
        match(Service(), *columns)
    return str(exit.value)


WHOLE = (
    f"{DONE}"
    '1,"Soy milk, 1 l",4006381333931,Vita,IID-1,"\'=Soy milk, 1 l",99.5,true\n'
    "2,Oat drink,,,IID-1,'=Oat drink,99.5,false\n"
    "3,,,,,,,false\n"
    "4,=1+1,,Vita,IID-1,'==1+1,99.5,false\n"
    "5,Tea,,,,,,false\n"
)


def test_each_row_is_written_with_its_best_candidate(
    match: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table.csv").write_text(f"\ufeff{HEADER}{ROWS}", encoding="utf-8")
    service = Service()
    assert match(service) == WHOLE
    assert capsys.readouterr().out == f"1 of 5 rows are matched in {tmp_path / 'matched.csv'}\n"
    assert service.asked[0] == {
        "0": {
            "query": "Soy milk, 1 l",
            "properties": [{"pid": "gtin", "v": "4006381333931"}, {"pid": "brand", "v": "Vita"}],
            "limit": 1,
        },
        "1": {"query": "Oat drink", "properties": [], "limit": 1},
    }
    assert [len(one) for one in service.asked] == [2, 2]


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(match: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(HEADER + ROWS)
    with pytest.raises(SystemExit):
        match(Service(fails=1))
    assert (tmp_path / "matched.csv").read_text() == "".join(WHOLE.splitlines(keepends=True)[:4])
    resumed = Service()
    assert match(resumed) == WHOLE
    assert len(resumed.asked) == 1
    again = Service()
    assert match(again) == WHOLE
    assert again.asked == [], "nothing is left to do, or to pay"


def test_a_row_that_was_half_written_is_matched_again(match: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(HEADER + ROWS)
    for end in range(len(DONE) + 5, len(WHOLE) - 1, 7):
        (tmp_path / "matched.csv").write_text(WHOLE[:end])
        assert match(Service()) == WHOLE, WHOLE[:end]


def test_semicolons_stay_semicolons(match: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("title;price\nSoy milk;1,50\n")
    assert match(Service(), "--name", "title") == (
        "title;price;iid;matched_name;score;match\nSoy milk;1,50;IID-1;'=Soy milk;99.5;true\n"
    )


def test_a_table_that_cannot_be_read_is_refused_with_the_place(match: Callable[..., str], tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    cases = (
        (b"", "is empty"),
        (b"title\n\xff\n", "is not in UTF-8: byte 6"),
        (b"title,title\n", "has two columns `title`"),
        (b"title,brand,ean\na,b,c,d\n", "line 2: 4 cells, but the header has 3"),
        (b"title,iid,brand,ean\n", "has a column `iid`, which the result adds"),
        (b"name,ean\n", "has no column `title`; there are name, ean"),
    )
    for content, sentence in cases:
        table.write_bytes(content)
        assert sentence in refused(match)
    assert not (tmp_path / "matched.csv").exists()
    assert "name the column of the names by --name" in refused(match, "--brand", "brand")


def test_a_result_of_another_table_is_kept(match: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(HEADER + ROWS)
    for other in ("a,b\n", f"{DONE}9,Other,,,,,,false\n5,Tea,,,,,,false\n"):
        (tmp_path / "matched.csv").write_text(other)
        assert "name another file" in refused(match)
        assert (tmp_path / "matched.csv").read_text() == other


def test_what_begins_a_formula_is_the_same_for_the_client_as_for_the_service() -> None:
    assert tables.FORMULA_STARTS == FORMULA_STARTS
