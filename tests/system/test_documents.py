"""The commands of the README, of the tour and of the tutorial, run as they stand there, and the answers that they show."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from deploy.ctl.main import COMMANDS, load_command
from tests.system.conftest import PROJECT, Running, clean_environment

pytestmark = pytest.mark.xdist_group("stack")


# Each with an address of its own: the free calls of the usual one may be used up by other tests.
DOCUMENTS = {
    "README.md": "127.0.77.1",
    "docs/guides/tour.md": "127.0.77.2",
    "docs/guides/tutorial.md": "127.0.77.3",
}

README, TOUR, TUTORIAL = (PROJECT.joinpath(name).read_text(encoding="utf-8") for name in DOCUMENTS)


def commands(document: str) -> list[tuple[str, str]]:
    """Return the commands of a document, each with the line of its answer that is shown, or nothing."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```\n(\$ .*?)^```", document, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                found[-1] = (found[-1][0], line)
    # The PATH that they name is that of `make up`; here it is the one of these tests, which have the client already.
    apart = ("export PATH", "export ITEMINDEX_KEY", "python3 -m venv", "pip install")
    return [(command, shown) for command, shown in found if not command.startswith(apart)]


def save_programs(document: str, folder: Path) -> None:
    """Save the programs of a document under the names that it says."""
    for name, program in re.findall(
        r"[Ss]ave this as `(\S+)`:\n\n```python\n(.*?)^```", document, re.MULTILINE | re.DOTALL
    ):
        (folder / name).write_text(program)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_commands_answer_as_is_shown(released_stack: Running, name: str, tmp_path: Path) -> None:
    asked = commands(text := (PROJECT / name).read_text(encoding="utf-8"))
    assert sum(bool(shown) for _, shown in asked) >= 4
    stack = released_stack
    here = f"127.0.0.1:{stack.port}"
    script = "\n".join(f"{command}; echo; echo ==" for command, _ in asked)
    script = script.replace("127.0.0.1:8080", here).replace("curl -s", f"curl --interface {DOCUMENTS[name]} -s")
    environment = {**clean_environment(), "ITEMINDEX_DATA_DIR": str(stack.folder)}
    organization = stack.ctl("orgs", "create", f"Reader of {name}", "--plan", "institutional").strip()
    environment |= {"ITEMINDEX_KEY": stack.ctl("keys", "issue", organization).strip(), "MPLBACKEND": "agg"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    save_programs(text, tmp_path)
    # What the tutorial writes is not of the project; the other two name files of it.
    folder = tmp_path if list(tmp_path.iterdir()) else PROJECT
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=folder, env=environment, timeout=180
    )
    *answers, _ = done.stdout.replace(here, "127.0.0.1:8080").replace(DOCUMENTS[name], "127.0.0.1").split("\n==\n")
    for answer, (command, shown) in zip(answers, asked, strict=True):
        pattern = ".*".join(re.escape(part.strip()) for part in shown.split("…"))
        assert re.match(pattern, answer.strip(), re.DOTALL), f"{command}\n{shown}\n{answer}\n{done.stderr}"


def test_every_command_that_they_name_exists() -> None:
    named = re.findall(r"(?:^|\(|`|\$ )itemindex ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", README + TOUR, re.MULTILINE)
    assert len(named) > 10
    for word, below in named:
        command = load_command(COMMANDS[word][0])
        if isinstance(command, click.Group):
            assert not below or below in command.commands, (word, below)
