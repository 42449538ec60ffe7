"""What an operator deploys is what the code says: settings, commands, and the page for the night."""

import re
from pathlib import Path

import click
import pytest

from deploy.ctl.main import COMMANDS, load_command
from edge.docs.guides import READERS, render
from tests.assurance.drills.faults import FAULTS
from tests.assurance.drills.night import CASES
from tests.assurance.drills.table import BEGIN, END
from tests.laws.deployed import GUIDES, NIGHT, PROJECT, RULES
from tests.support.settings_table import table

OPERATORS = "".join((GUIDES / f"{name}.md").read_text() for name in READERS["operators"])


def test_the_table_of_settings_is_the_one_of_the_code() -> None:
    kept = (GUIDES / "settings.md").read_text().partition("<!-- settings -->\n")[2].partition("<!-- /settings -->")[0]
    assert kept == table(), "put the output of `python -m tests.support.settings_table` between the marks"


PAGES = [
    PROJECT / "README.md",
    *(page for folder in ("docs", "deploy") for page in sorted((PROJECT / folder).glob("**/*.md"))),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    for code in re.findall(r"```.*?```|`[^`]+`", page.read_text(encoding="utf-8"), flags=re.S):
        for call in re.findall(r"(?<![\w/.-])itemindex (?=[a-z])([^`\n;|)>&#$]*)", code):
            check_command(call.split())


@pytest.mark.parametrize("guide", sorted(GUIDES.glob("*.md")), ids=lambda path: path.name)
def test_every_link_between_guides_leads_to_a_heading(guide: Path) -> None:
    for path, anchor in re.findall(r"\]\(([\w-]+\.md)?(?:#([\w-]+))?\)", guide.read_text(encoding="utf-8")):
        text = (GUIDES / path).read_text(encoding="utf-8") if path else guide.read_text(encoding="utf-8")
        marked = re.findall(r'<a id="([^"]+)"', text)
        assert not anchor or anchor in {*marked, *(heading.anchor for heading in render(text).headings)}, anchor


def check_command(words: list[str]) -> None:
    """Fail where a call of `itemindex` names a command or an option that does not exist."""
    command: click.Command = load_command(COMMANDS[words[0]][0])
    if isinstance(command, click.Group) and len(words) > 1:
        command = command.commands[words[1] if words[0] != "ingest" or words[1] in command.commands else "run"]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= known, words


def test_every_file_that_the_guides_name_exists() -> None:
    names = re.findall(r"`((?:deploy|shared|tests|edge)/[\w./*-]+)`", OPERATORS)
    assert names
    for name in names:
        if name not in ("deploy/docker/.env", "deploy/docker/settings.env"):  # an operator makes them
            assert list(PROJECT.glob(name)), name


def test_the_table_of_failures_is_a_run_of_the_drill_as_it_is() -> None:
    table = (GUIDES / "failures.md").read_text().partition(BEGIN)[2].partition(END)[0].splitlines()
    assert re.fullmatch(
        r"Seen on \d{4}-\d\d-\d\d by `python -m tests.assurance.drills outages --seconds \d+ --markdown`, which .*",
        table[0],
    )
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table[4:]]
    assert rows == [fault.name[0].upper() + fault.name[1:] for fault in FAULTS], "run the drill with --markdown anew"
    assert not any("BROKEN" in line or "not healed" in line for line in table)


def night() -> dict[str, dict[str, list[str]]]:
    """Return the rows of the page for the night: by severity and alert, its other cells."""
    found: dict[str, dict[str, list[str]]] = {}
    for severity, section in zip(("page", "ticket"), NIGHT.split("\n## ")[1:3], strict=True):
        cells = [[cell.strip() for cell in line.split(" | ")] for line in section.splitlines() if line[:3] == "| ["]
        found[severity] = {row[0].partition("]")[0].removeprefix("| ["): row for row in cells}
    return found


def test_the_page_for_the_night_has_each_alert_by_its_severity() -> None:
    for severity, rows in night().items():
        assert list(rows) == [rule["alert"] for rule in RULES if rule["labels"]["severity"] == severity]
        for alert, row in rows.items():
            anchor = "-".join(re.findall("[A-Z][a-z]*", alert)).lower()
            assert row[0] == f"| [{alert}](alerts.md#alert-{anchor})" and len(row) == 5
            drill = row[4].removesuffix(" |")
            assert drill in {"–", *CASES, *(fault.name[0].upper() + fault.name[1:] for fault in FAULTS)}, drill


def test_each_command_of_the_night_exists() -> None:
    units = {path.name.partition(".")[0].partition("@")[0] for path in (PROJECT / "deploy/systemd").iterdir()}
    others = {"valkey-server", "postgresql", "rabbitmq-server", "certbot"}
    known = {"curl", "valkey-cli", "df", "psql", "journalctl", "kubectl", "docker", "python", "itemindex", "systemctl"}
    for code in re.findall(r"`([^`]+)`", NIGHT):
        words = code.split()
        if len(words) == 1:
            continue
        assert words[0] in known, code
        # nginx listens elsewhere with TLS, and answers 421 to a host that is not its own: an edge's socket always works.
        assert words[0] != "curl" or "--unix-socket" in words, code
        if words[0] == "systemctl":
            assert {word.partition("@")[0] for word in words[2:]} <= units | others, code
