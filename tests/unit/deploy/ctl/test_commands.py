"""The map of commands: each can be imported, has an example, and is listed."""

from collections.abc import Iterator

import click
from click.testing import CliRunner

from deploy.ctl.main import COMMANDS, cli, load_command


def test_each_command_of_the_map_can_be_imported() -> None:
    assert all(load_command(target).name for target, _ in COMMANDS.values())


def leaves(command: click.Command, words: str = "itemindex") -> Iterator[tuple[str, click.Command]]:
    """Return each command that acts, with its words."""
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                yield from leaves(below, f"{words} {name}")


def test_there_are_few_commands_and_each_has_an_example() -> None:
    every = dict(leaves(cli))
    assert len(every) <= 75, "an option or an argument of another command may do it"
    assert [words for words, command in every.items() if "Example" not in (command.epilog or "")] == []


def test_each_option_says_what_it_does() -> None:
    options = (
        (words, one) for words, command in leaves(cli) for one in command.params if isinstance(one, click.Option)
    )
    assert [(words, one.name) for words, one in options if not one.help] == []


def test_help_lists_every_command() -> None:
    listed = CliRunner().invoke(cli, ["--help"]).output.split()
    assert set(COMMANDS) <= set(listed)
