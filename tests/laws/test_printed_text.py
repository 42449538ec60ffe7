"""Whatever the command line prints goes through deploy/terminal.py, which reads no text of others as markup."""

import ast
from collections.abc import Iterator

from tests.laws.sources import PROJECT

PRINTING = sorted((PROJECT / "deploy/ctl").glob("*.py"))

TERMINAL = "deploy/terminal.py"

# What is printed as it is: secrets that were just made, to be copied; documents of ours; tables whose cells are text.
RAW_ECHO = {
    "organizations.py",
    "people.py",
    "keys.py",
    "secrets.py",
    "nginx.py",
    "reference.py",
    "webhooks.py",
}

# The two ways round it that console.py offers: the callers of `report` and `reveal` are held to the same rules.
CONSOLE_ECHO, CONSOLE_SAY = "text", "sentence"

RAW_PRINT = {("top.py", "frame"), ("console.py", "table")}

SAFE = {"safe", "printable", "printable_lines"}


def faults(source: str, name: str) -> Iterator[str]:
    """Name each call of a file that may print text of others as it is."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        last = called.rpartition(".")[2]
        first = node.args[0] if node.args else None
        where = f"{name}:{node.lineno}: {called}"
        if called in ("Console", "Table", "Panel", "rich.print") or called == "print":
            yield f"{where} goes round {TERMINAL}"
        elif last in ("print", "log", "rule") and called.split(".")[0] in ("console", "errors"):
            printed = first.func if isinstance(first, ast.Call) else first
            if printed is None or (name, ast.unparse(printed)) not in RAW_PRINT:
                yield f"{where} goes round {TERMINAL}"
        elif name == "console.py" and (called, ast.unparse(first or node)) in (
            ("click.echo", CONSOLE_ECHO),
            ("console.say", CONSOLE_SAY),
        ):
            continue
        elif called == "reveal" and name not in RAW_ECHO:
            yield f"{where} prints text as it is"
        elif last in ("say", "report") and not (isinstance(first, ast.Constant) or _is_local_template(source, first)):
            yield f"{where} has a template that is no literal"
        elif last in ("add_task", "status") or called == "status.update":
            if not (isinstance(first, ast.Constant) or _calls(first, SAFE)):
                yield f"{where} shows text that is not safe()"
        elif called == "click.echo" and name not in RAW_ECHO and not _calls(first, {"json.dumps", *SAFE}):
            yield f"{where} prints text as it is"


def _calls(node: ast.expr | None, allowed: set[str]) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in allowed


def _is_local_template(source: str, node: ast.expr | None) -> bool:
    """Whether a name is only ever set to a literal in its file."""
    if not isinstance(node, ast.Name):
        return False
    values = [
        assigned.value
        for assigned in ast.walk(ast.parse(source))
        if isinstance(assigned, ast.Assign) and any(ast.unparse(target) == node.id for target in assigned.targets)
    ]
    return bool(values) and all(isinstance(value, ast.Constant) for value in values)


def test_nothing_is_printed_past_the_terminal() -> None:
    assert len(PRINTING) > 15
    assert [fault for path in PRINTING for fault in faults(path.read_text(), path.name)] == []
