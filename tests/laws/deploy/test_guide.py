"""The operators' guide says what the code says."""

import re
from pathlib import Path

from deploy.ctl.main import COMMANDS
from tests.drills.faults import FAULTS
from tests.drills.table import BEGIN, END
from tests.support.settings_table import table

PROJECT = Path(__file__).parents[3]
GUIDE = (PROJECT / "deploy/guides/operate.md").read_text()


def test_the_table_of_settings_is_the_one_of_the_code() -> None:
    kept = GUIDE.partition("<!-- settings -->\n")[2].partition("<!-- /settings -->")[0]
    assert kept == table(), "put the output of `python -m tests.support.settings_table` between the marks"


def test_every_command_that_it_names_exists() -> None:
    named = set(re.findall(r"itemindex ([a-z]+)\b", re.sub(r"```.*?```", lambda block: block[0], GUIDE, flags=re.S)))
    assert named <= {*COMMANDS, "itemindex"}, named - COMMANDS.keys()


def test_every_file_that_it_names_exists() -> None:
    for name in re.findall(r"`((?:deploy|shared|tests|edge)/[\w./*-]+)`", GUIDE):
        if name != "deploy/docker/.env":
            assert list(PROJECT.glob(name)), name


def test_the_table_of_failures_is_a_run_of_the_drill_as_it_is() -> None:
    table = GUIDE.partition(BEGIN)[2].partition(END)[0].splitlines()
    assert re.fullmatch(
        r"Seen on \d{4}-\d\d-\d\d by `python -m tests.drills outages --seconds \d+ --markdown`, which .*", table[0]
    )
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table[4:]]
    assert rows == [fault.name[0].upper() + fault.name[1:] for fault in FAULTS], "run the drill with --markdown anew"
    assert not any("BROKEN" in line or "not healed" in line for line in table)
