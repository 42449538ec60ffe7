"""Who reads which clock: what the drills step is all there is."""

import re

from tests.laws.sources import PROJECT

TEXTS = {
    path.relative_to(PROJECT): path.read_text()
    for folder in ("edge", "workers", "shared")
    for path in sorted((PROJECT / folder).rglob("*"))
    if path.suffix in (".lua", ".sql", ".py")
}

# Keywords, which no function of another schema can stand for.
KEYWORD = re.compile(r"\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b", re.IGNORECASE)


def test_the_charge_script_alone_reads_the_state_stores_clock() -> None:
    read = [str(path) for path, text in TEXTS.items() if re.search(r"""["']TIME["']""", text)]
    assert read == ["edge/quota/take.lua"]


def test_no_sql_reads_postgresqls_clock_by_a_keyword() -> None:
    assert [str(path) for path, text in TEXTS.items() if path.suffix == ".sql" and KEYWORD.search(text)] == []
    assert KEYWORD.search("DEFAULT CURRENT_TIMESTAMP,")
