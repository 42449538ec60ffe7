"""The README's commands, run as they stand there, and the answers that it shows."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from deploy.ctl.main import COMMANDS, load_command
from tests.system.conftest import PROJECT, Running, clean_environment

pytestmark = pytest.mark.xdist_group("stack")
README = (PROJECT / "README.md").read_text(encoding="utf-8")
# An address of its own: the free calls of the usual one may be used up by other tests.
ADDRESS = "127.0.77.1"


def commands(section: str) -> list[tuple[str, str]]:
    """Return the commands of a section's first block, each with the line of its answer that is shown, or nothing."""
    block = README.partition(f"\n## {section}\n")[2].partition("```\n")[2].partition("```")[0]
    found: list[tuple[str, str]] = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            found[-1] = (found[-1][0], line)
    return found


@pytest.mark.parametrize("section", ["First calls", "Organizations"])
def test_the_commands_answer_as_the_readme_shows(stack: Running, section: str) -> None:
    asked = commands(section)
    assert sum(bool(shown) for _, shown in asked) >= 2
    here = f"127.0.0.1:{stack.port}"
    # The PATH that the README names is that of `make up`; here it is the one of these tests.
    script = "\n".join(f"{command}; echo; echo ==" for command, _ in asked if not command.startswith("export PATH"))
    script = script.replace("127.0.0.1:8080", here).replace("curl -s", f"curl -s --interface {ADDRESS}")
    environment = {**clean_environment(), "ITEMINDEX_DATA_DIR": str(stack.folder)}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=PROJECT, env=environment, timeout=120
    )
    answers = done.stdout.replace(here, "127.0.0.1:8080").replace(ADDRESS, "127.0.0.1").split("\n==\n")
    shown = [line for command, line in asked if not command.startswith("export PATH")]
    for answer, line in zip(answers, shown, strict=False):
        pattern = ".*".join(re.escape(part.strip()) for part in line.split("…"))
        assert re.match(pattern, answer.strip(), re.DOTALL), f"{line}\n{answer}"


def test_every_command_of_the_readme_exists() -> None:
    named = re.findall(r"(?:^|\(|`|\$ )itemindex ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", README, re.MULTILINE)
    assert len(named) > 10
    for word, below in named:
        command = load_command(COMMANDS[word][0])
        if isinstance(command, click.Group):
            assert not below or below in command.commands, (word, below)
