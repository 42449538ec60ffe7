"""The operators' guide says what the code says."""

import re
from pathlib import Path

import click
import yaml

from deploy.ctl.main import COMMANDS, load_command
from tests.drills.faults import FAULTS
from tests.drills.table import BEGIN, END
from tests.support.settings_table import table

PROJECT = Path(__file__).parents[3]
GUIDE = (PROJECT / "deploy/guides/operate.md").read_text()
NIGHT = (PROJECT / "deploy/guides/night.md").read_text()


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


def night() -> dict[str, dict[str, list[str]]]:
    """Return the rows of the page for the night: by severity and alert, its other cells."""
    found: dict[str, dict[str, list[str]]] = {}
    for severity, section in zip(("page", "ticket"), NIGHT.split("\n## ")[1:], strict=True):
        cells = [[cell.strip() for cell in line.split(" | ")] for line in section.splitlines() if line[:3] == "| ["]
        found[severity] = {row[0].partition("]")[0].removeprefix("| ["): row for row in cells}
    return found


def test_the_page_for_the_night_has_each_alert_by_its_severity() -> None:
    rules = [
        rule
        for group in yaml.safe_load((PROJECT / "deploy/prometheus/alerts.yml").read_text())["groups"]
        for rule in group["rules"]
    ]
    for severity, rows in night().items():
        assert list(rows) == [rule["alert"] for rule in rules if rule["labels"]["severity"] == severity]
        for alert, row in rows.items():
            anchor = "-".join(re.findall("[A-Z][a-z]*", alert)).lower()
            assert row[0] == f"| [{alert}](operate.md#alert-{anchor})" and len(row) == 5
            drill = row[4].removesuffix(" |")
            assert drill == "–" or drill in {fault.name[0].upper() + fault.name[1:] for fault in FAULTS}, drill


def test_each_command_of_the_night_exists() -> None:
    units = {path.name.partition(".")[0].partition("@")[0] for path in (PROJECT / "deploy/systemd").iterdir()}
    others = {"valkey-server", "postgresql", "rabbitmq-server"}
    known = {"curl", "valkey-cli", "df", "psql", "journalctl", "kubectl", "docker", "python", "itemindex", "systemctl"}
    for code in re.findall(r"`([^`]+)`", NIGHT):
        words = code.split()
        if len(words) == 1:
            continue
        assert words[0] in known, code
        if words[0] == "itemindex":
            command: click.Command = load_command(COMMANDS[words[1]][0])
            for word in words[2:]:
                if isinstance(command, click.Group) and word.islower():
                    assert word in command.commands, code
                    command = command.commands[word]
                elif word.startswith("--"):
                    assert any(word in parameter.opts for parameter in command.params), code
        elif words[0] == "systemctl":
            assert {word.partition("@")[0] for word in words[2:]} <= units | others, code
